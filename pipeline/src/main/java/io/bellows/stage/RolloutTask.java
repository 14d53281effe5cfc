package io.bellows.stage;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.data.PromptSchema;
import io.bellows.engine.Admission;
import io.bellows.env.EnvironmentFactory;
import io.bellows.env.Environments;
import io.bellows.env.Example;
import io.bellows.env.GroupRollout;
import io.bellows.env.ModelRequest.TrajectoryId;
import io.bellows.env.MultiTurnEnv;
import io.bellows.env.RolloutLimits;
import io.bellows.env.SingleTurnEnv;
import io.bellows.env.State;
import io.bellows.env.Workers;
import io.bellows.resident.ExecutorHost;
import io.bellows.resident.ExecutorHost.Role;
import io.bellows.resident.ResidentModel;
import io.bellows.resident.WeightsRef;
import io.bellows.stage.RolloutSampling.Baseline;
import io.bellows.stage.TaskModel.Together;
import io.bellows.text.ChatPrompt;
import io.bellows.text.ChatTokenizer;
import io.bellows.text.ConversationTokens;
import io.bellows.text.ConversationTokens.PromptEncoder;
import io.bellows.trajectory.Trajectory;
import io.bellows.trajectory.TrajectoryKey;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.Row;
import org.apache.spark.util.TaskCompletionListener;

/**
 * The rollout of one partition: opens the trajectories of one prompt after the other, so many that the engine is never short of work, and
 * hands out the rows of those that have ended while others go on.
 *
 * <p>With an engine that is to be bit-exact all trajectories are open at once, and come out in the order of the prompts.
 */
final class RolloutTask {

    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final RolloutStage stage;
    private final int iteration;
    private final WeightsRef weights;
    private final ChatTokenizer text;
    private final TaskModel model;
    private final Environments environments;
    private final Workers workers;
    private final boolean ordered;

    private final Queue<Prompt> prompts = new ArrayDeque<>();
    private final Queue<Running> inOrder = new ArrayDeque<>();
    private final Set<CompletableFuture<State>> open = new HashSet<>();
    private final AtomicInteger active = new AtomicInteger(); // of these, not those that wait to be compared
    private final BlockingQueue<Optional<Running>> news = new LinkedBlockingQueue<>(); // one has ended, or makes room
    private final Queue<Row> ready = new ArrayDeque<>();

    RolloutTask(RolloutStage stage, int iteration, WeightsRef weights) {
        this.stage = stage;
        this.iteration = iteration;
        this.weights = weights;
        this.model = stage.servers() == null
                ? residentModel(stage, iteration, weights)
                : new ServerModel(stage, weights.modelFolder(), iteration);
        this.text = model.text();
        this.environments = new Environments(stage.environments());
        this.workers = new Workers(stage.environments().agent().numWorkers());
        this.ordered = stage.servers() == null && stage.resident().admission() == Admission.ORDERED;
    }

    private static TaskModel residentModel(RolloutStage stage, int iteration, WeightsRef weights) {
        ResidentModel resident = ExecutorHost.model(stage.runId(), Role.POLICY, weights, stage.resident());
        ChatTokenizer text = resident.tokenizer(weights, stage.sampling().templateVariables());
        return new EngineModel(resident.engine(weights), text, stage.sampling(), iteration);
    }

    /** A prompt of the partition. */
    private record Prompt(
            Row row, long position, Example example, String environment, Map<Integer, Integer> attempts) {}

    /** A trajectory on its way. */
    private record Running(Prompt prompt, int sampleIndex, CompletableFuture<State> rollout) {}

    /** The rows of trajectories, in the order in which these end. */
    Iterator<Row> run(Iterator<Row> rows) {
        // A task that fails or is killed must not leave work behind that the next one waits for.
        TaskContext.get().addTaskCompletionListener((TaskCompletionListener) task -> end());
        rows.forEachRemaining(row -> prompts.add(prompt(row)));
        if (ordered) {
            model.meet(prompts.stream().flatMap(this::trajectories).toList(), Together.EVERY_TURN);
        }
        return new Iterator<>() {
            @Override
            public boolean hasNext() {
                openMore();
                return !open.isEmpty() || !ready.isEmpty();
            }

            @Override
            public Row next() {
                if (!hasNext()) {
                    throw new NoSuchElementException();
                }
                while (ready.isEmpty()) {
                    take().ifPresent(running -> ready.addAll(rowsOf(running)));
                    openMore();
                }
                return ready.remove();
            }
        };
    }

    private Prompt prompt(Row row) {
        int position = row.getAs("position");
        ObjectNode columns = columns(row.getAs("extra"));
        Example example = new Example(
                row.getAs("prompt_id"),
                row.getAs("data_source"),
                PromptSchema.messages(row, "prompt"),
                row.getAs("ground_truth"),
                PromptSchema.tools(row),
                columns);
        String named = columns.path("agent_name").asText("");
        String environment = named.isEmpty() ? stage.environments().defaultEnvironment() : named;
        return new Prompt(row, position, example, Environments.canonical(environment), attempts(row));
    }

    /** The wanted samples, each with how often it was tried before. */
    private Map<Integer, Integer> attempts(Row row) {
        Map<Integer, Integer> attempts = new TreeMap<>();
        boolean chosen = List.of(row.schema().fieldNames()).contains(RolloutStage.SAMPLES);
        if (!chosen) {
            IntStream.range(0, stage.sampling().n()).forEach(index -> attempts.put(index, 0));
            return attempts;
        }
        List<Integer> samples = row.getList(row.fieldIndex(RolloutStage.SAMPLES));
        List<Integer> before = row.getList(row.fieldIndex(RolloutStage.ATTEMPTS));
        for (int i = 0; i < samples.size(); i++) {
            attempts.put(samples.get(i), before.get(i));
        }
        return attempts;
    }

    private static ObjectNode columns(String extra) {
        try {
            return (ObjectNode) JSON.readTree(extra);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("Cannot read the column extra, which Bellows itself wrote: " + extra, e);
        }
    }

    private Stream<TrajectoryId> trajectories(Prompt prompt) {
        List<TrajectoryId> ids = new ArrayList<>();
        prompt.attempts().keySet().forEach(index -> ids.add(new TrajectoryId(prompt.position(), index)));
        if (stage.sampling().baseline() == Baseline.GREEDY) {
            ids.add(new TrajectoryId(prompt.position(), TrajectoryKey.GREEDY_BASELINE));
        }
        return ids.stream();
    }

    // ---- trajectories in

    private void openMore() {
        while (!prompts.isEmpty() && (ordered || hasRoom(prompts.peek()))) {
            open(prompts.remove());
        }
    }

    /** An engine always has more to do than it can; servers are asked for no more at once than was said. */
    private boolean hasRoom(Prompt next) {
        int slots = stage.resident().slots();
        if (stage.servers() != null) {
            return active.get() == 0 || active.get() + next.attempts().size() <= slots;
        }
        return active.get() < Math.max(stage.environments().agent().numWorkers(), 2 * slots);
    }

    @SuppressWarnings("FutureReturnValueIgnored") // what failed is taken from the queue
    private void open(Prompt prompt) {
        List<TrajectoryId> ids = trajectories(prompt).toList();
        if (!ordered) {
            model.meet(ids, Together.FIRST_TURN);
        }
        PromptEncoder shared = sharedEncoder();
        RolloutLimits limits = stage.environments()
                .limits(stage.sampling().maxTokens(), stage.resident().maxLength());
        GroupRollout group = new GroupRollout(prompt.attempts().size(), model, workers);
        for (TrajectoryId id : ids) {
            State state = new State(id, prompt.example(), limits, new ConversationTokens(text, shared));
            MultiTurnEnv environment = create(environments.named(prompt.environment()), prompt.example());
            boolean isBaseline = id.sampleIndex() == TrajectoryKey.GREEDY_BASELINE; // no sample of the group
            GroupRollout compared = isBaseline ? new GroupRollout(1, model, workers) : group;
            active.incrementAndGet();
            Running running =
                    new Running(prompt, id.sampleIndex(), compared.rollout(environment, state, this::makeRoom));
            open.add(running.rollout());
            if (ordered) {
                inOrder.add(running);
            } else {
                running.rollout().whenComplete((done, failure) -> news.add(Optional.of(running)));
            }
        }
    }

    /** What waits for the others of its prompt keeps no place among those that run at once. */
    private void makeRoom() {
        active.decrementAndGet();
        news.add(Optional.empty());
    }

    /** An environment; one that cannot be made fails its trajectory, as if its setup had thrown. */
    private static MultiTurnEnv create(EnvironmentFactory factory, Example example) {
        try {
            return factory.create(example);
        } catch (RuntimeException | Error e) {
            return new SingleTurnEnv() {
                @Override
                protected void setupState(State state) {
                    throw e;
                }
            };
        }
    }

    /** The samples of a prompt begin alike, as a rule: what one has encoded serves the others. */
    private PromptEncoder sharedEncoder() {
        record Key(List<io.bellows.text.Message> messages, JsonNode tools) {}
        ConcurrentHashMap<Key, ChatPrompt> encoded = new ConcurrentHashMap<>();
        return (messages, tools, end) ->
                encoded.computeIfAbsent(new Key(messages, tools), key -> text.encode(key.messages(), key.tools(), end));
    }

    // ---- rows out

    /** One that has ended, or nothing when there is room for another. */
    private Optional<Running> take() {
        if (workers.isOverrun()) {
            throw new IllegalStateException("Cannot roll out: " + workers.abandoned()
                    + " steps of environments go on after their deadline and an interruption; make them end when their"
                    + " thread is interrupted");
        }
        try {
            return ordered ? Optional.of(inOrder.remove()) : news.take();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Cannot roll out: the task was interrupted", e);
        }
    }

    @SuppressWarnings("CollectionUndefinedEquality") // futures by identity
    private List<Row> rowsOf(Running running) {
        State state;
        try {
            state = running.rollout().get();
            open.remove(running.rollout());
        } catch (ExecutionException | CompletionException e) {
            // The engine is gone, not the trajectory: there is nothing to make of the others either.
            throw new IllegalStateException("Cannot roll out: " + e.getCause().getMessage(), e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Cannot roll out: the task was interrupted", e);
        }
        Prompt prompt = running.prompt();
        String promptId = prompt.row().getAs("prompt_id");
        TrajectoryKey key =
                TrajectoryKey.of(stage.runId(), iteration, prompt.position(), promptId, running.sampleIndex());
        int attempt = prompt.attempts().getOrDefault(running.sampleIndex(), 0);
        return TrajectorySegments.of(state, key, prompt.environment(), attempt, weights.version(), prompt.row())
                .stream()
                .map(Trajectory::toRow)
                .toList();
    }

    /** Ends what is still running, cleans up after it, and frees what trajectories shared. */
    private void end() {
        workers.cancel();
        CompletableFuture<?>[] rollouts = open.toArray(CompletableFuture[]::new);
        double seconds = stage.environments().agent().cleanupTimeoutS();
        try {
            CompletableFuture.allOf(rollouts).get((long) (1000 * (seconds + 2)), TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException e) {
            // The task has its own error; what did not end in time is left to its daemon thread.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            workers.close();
            if (workers.abandoned() == 0) { // a step that goes on may still count tokens
                model.close();
            }
            environments.close();
        }
    }
}
