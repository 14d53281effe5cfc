package io.bellows.cluster;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.bellows.resident.ExecutorHost;
import io.bellows.training.collective.Collective;
import io.bellows.training.collective.RingListener;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where the ranks of a {@link WorkerGroup} find each other: each listens on a port of its own, and one exchange through the driver tells
 * all where. A single rank has nobody to meet.
 */
public final class Rendezvous implements Serializable {

    private static final long serialVersionUID = 1L;
    private static final Logger LOG = LoggerFactory.getLogger(Rendezvous.class);
    private static final int PROTOCOL = 1;
    private static final int SECRET = 32;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final int ranks;
    private final int[] present;
    private final Duration patience;
    private final byte[] secret;

    /**
     * What a task says of itself.
     *
     * @param task number of its partition
     * @param host address that others reach it by
     * @param port where it listens
     * @param attempt of the stage
     * @param executor that runs it
     * @param device that Spark assigned
     * @param protocol version of what ranks say to each other
     * @param inMemory rank whose share of the optimizer state its executor holds, or -1
     */
    record Member(
            int task, String host, int port, int attempt, String executor, String device, int protocol, int inMemory) {}

    private Rendezvous(int ranks, int[] present, Duration patience, byte[] secret) {
        this.ranks = ranks;
        this.present = present;
        this.patience = patience;
        this.secret = secret;
    }

    /** A meeting under a new secret, which travels with the task; of a call in which some ranks may take no part. */
    static Rendezvous of(int ranks, int[] present, Duration patience) {
        byte[] secret = new byte[SECRET];
        new SecureRandom().nextBytes(secret);
        return new Rendezvous(ranks, present, patience, secret);
    }

    /** The number of this task among those of its stage. */
    int task() {
        return TaskContext.getPartitionId();
    }

    /**
     * Returns this rank, which decides on its arguments and its rows.
     *
     * @return a number from 0
     */
    public int rank() {
        return present[task()];
    }

    /**
     * Returns the ranks of the group.
     *
     * @return at least 1
     */
    public int ranks() {
        return ranks;
    }

    /**
     * Returns how often Spark began this call before: after a rank was lost, all run again.
     *
     * @return 0 at first
     */
    public int attempt() {
        return TaskContext.get().stageAttemptNumber();
    }

    /**
     * Meets the other ranks. All of them have to; it takes a second or two. The number of a rank among them, which decides on its share of the
     * optimizer state, is another than {@link #rank} where executors hold such shares already.
     *
     * @param inMemory whose share of the optimizer state is in this executor's memory, or -1
     * @return what the ranks exchange
     * @throws IllegalStateException if not all ranks take part in this call, or two are on one executor
     */
    public Collective join(int inMemory) {
        if (present.length < ranks) {
            throw new IllegalStateException("Cannot meet the other ranks: " + present.length + " of " + ranks
                    + " take part in this call; register the method with DispatchModes.ONE_TO_ALL");
        }
        if (ranks == 1) {
            return Collective.alone();
        }
        BarrierTaskContext task = BarrierTaskContext.get();
        String host = SparkEnv.get().blockManager().blockManagerId().host();
        try (RingListener listener = RingListener.bind(InetAddress.getByName(host), secret, patience)) {
            Member self = new Member(
                    task.partitionId(),
                    host,
                    listener.port(),
                    attempt(),
                    SparkEnv.get().executorId(),
                    ExecutorHost.device().toString(),
                    PROTOCOL,
                    inMemory);
            List<Member> members = new ArrayList<>();
            for (String told : task.allGather(JSON.writeValueAsString(self))) {
                members.add(JSON.readValue(told, Member.class));
            }
            members = inOrder(members);
            refuseIfUnfit(members);
            int rank = members.indexOf(self);
            LOG.info("Rank {} of {} is task {} on executor {}", rank, ranks, self.task(), self.executor());
            List<InetSocketAddress> addresses = members.stream()
                    .map(member -> new InetSocketAddress(member.host(), member.port()))
                    .toList();
            return listener.connect(rank, addresses, self.attempt());
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("Cannot read what another rank says of itself: " + e.getMessage(), e);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot listen for other ranks on " + host + ": " + e.getMessage(), e);
        }
    }

    /**
     * Numbers the ranks so that executors keep their share of the optimizer state where they can; which rows a task has does not
     * matter to it.
     */
    static List<Member> inOrder(List<Member> members) {
        Member[] places = new Member[members.size()];
        List<Member> homeless = new ArrayList<>();
        List<Member> byTask = new ArrayList<>(members);
        byTask.sort(Comparator.comparingInt(Member::task));
        for (Member member : byTask) {
            int wanted = member.inMemory();
            if (wanted >= 0 && wanted < places.length && places[wanted] == null) {
                places[wanted] = member;
            } else {
                homeless.add(member);
            }
        }
        for (int place = 0; place < places.length; place++) {
            if (places[place] == null) {
                places[place] = homeless.remove(0);
            }
        }
        return Arrays.asList(places);
    }

    static void refuseIfUnfit(List<Member> members) {
        Map<String, Integer> byExecutor = new HashMap<>();
        for (Member member : members) {
            Integer other = byExecutor.put(member.executor(), member.task());
            if (other != null) {
                throw new IllegalStateException("Cannot update on " + members.size() + " ranks: executor "
                        + member.executor() + " was given two of them, tasks " + other + " and " + member.task()
                        + "; set spark.executor.cores, or spark.task.cpus to more than half of an executor's cores");
            }
            if (member.protocol() != PROTOCOL
                    || member.attempt() != members.get(0).attempt()) {
                throw new IllegalStateException("Cannot update on " + members.size() + " ranks: " + member
                        + " does not fit " + members.get(0) + "; do all executors run the same jar?");
            }
        }
    }
}
