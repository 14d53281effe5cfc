package io.bellows.training.collective;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ranks in a ring, each sending to the next and receiving from the one before (Patarasuk and Yuan, "Bandwidth optimal all-reduce
 * algorithms for clusters of workstations", 2009): with n ranks, 2·(n − 1)/n of a vector travel for its sum, whatever n is.
 *
 * <p>Blocks go straight from and to the memory of the vector. One thread sends and receives at once, so that two ranks that send to
 * each other do not wait for each other; every wait has a deadline, which starts anew with each byte.
 */
final class Ring implements Collective {

    private static final Logger LOG = LoggerFactory.getLogger(Ring.class);
    private static final Duration ABORT_TIME = Duration.ofSeconds(1);
    private static final Duration NEWS_TIME = Duration.ofSeconds(5);
    private static final int LONGEST_REASON = 8192;
    private static final int STAGING = 1 << 18;

    private final int rank;
    private final int size;
    private final SocketChannel next;
    private final SocketChannel previous;
    private final Selector selector;
    private final SelectionKey toNext;
    private final SelectionKey fromPrevious;
    private final Duration timeout;
    private final ByteBuffer staging = ByteBuffer.allocateDirect(STAGING);
    private int transfers;
    private Outgoing sending;

    Ring(int rank, int size, SocketChannel next, SocketChannel previous, Duration timeout) throws IOException {
        this.rank = rank;
        this.size = size;
        this.next = next;
        this.previous = previous;
        this.timeout = timeout;
        next.configureBlocking(false);
        previous.configureBlocking(false);
        this.selector = Selector.open();
        this.toNext = next.register(selector, 0);
        this.fromPrevious = previous.register(selector, 0);
    }

    @Override
    public int rank() {
        return rank;
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public void reduceScatter(FloatVector values) {
        for (int step = 0; step < size - 1; step++) {
            transfer(Frame.Kind.ADD, block(values, rank - step - 1), adding(values, rank - step - 2));
        }
    }

    @Override
    public void allGather(FloatVector values) {
        for (int step = 0; step < size - 1; step++) {
            ByteBuffer[] target = block(values, rank - step - 1);
            transfer(Frame.Kind.COPY, block(values, rank - step), new Incoming.Exact(target));
        }
    }

    @Override
    public List<byte[]> gather(byte[] own) {
        byte[][] all = new byte[size][];
        all[rank] = own;
        for (int step = 0; step < size - 1; step++) {
            ByteBuffer[] out = {ByteBuffer.wrap(all[number(rank - step)])};
            Incoming.AnyLength in = new Incoming.AnyLength();
            transfer(Frame.Kind.GATHER, out, in);
            all[number(rank - step - 1)] = in.content();
        }
        return List.of(all);
    }

    private int number(int block) {
        return Math.floorMod(block, size);
    }

    private ByteBuffer[] block(FloatVector values, int block) {
        int b = number(block);
        return values.bytes(FloatVector.start(values.size(), b, size), FloatVector.start(values.size(), b + 1, size));
    }

    private Incoming adding(FloatVector values, int block) {
        int b = number(block);
        long from = FloatVector.start(values.size(), b, size);
        return new Incoming.Added(values, from, FloatVector.start(values.size(), b + 1, size), staging);
    }

    private void transfer(Frame.Kind kind, ByteBuffer[] payload, Incoming incoming) {
        transfers++;
        Outgoing out = new Outgoing(new Frame(kind, transfers, Outgoing.bytes(payload)), payload);
        FrameReader in = new FrameReader(new Frame(kind, transfers, 0), incoming);
        sending = out;
        try {
            exchange(out, in);
        } catch (IOException | ClosedSelectorException e) {
            throw new CollectiveException(
                    rank,
                    "Cannot go on with the update: rank " + rank + " lost the connection to "
                            + (in.failed() ? "rank " + number(rank - 1) : "rank " + number(rank + 1)) + " ("
                            + e.getMessage() + "); its executor died, or the network between them did",
                    e);
        }
    }

    private void exchange(Outgoing out, FrameReader in) throws IOException {
        long quietSince = System.nanoTime();
        while (!out.isDone() || !in.isDone()) {
            boolean moved = !out.isDone() && send(out, in);
            moved |= !in.isDone() && in.read(previous);
            long now = System.nanoTime();
            if (moved) {
                quietSince = now;
                continue;
            }
            long left = timeout.toMillis() - (now - quietSince) / 1_000_000;
            if (left <= 0) {
                throw quiet(out, in);
            }
            await(out.isDone() ? 0 : SelectionKey.OP_WRITE, in.isDone() ? 0 : SelectionKey.OP_READ, left);
        }
    }

    /** Whoever cannot send waits a little for the news why, which goes round from the rank that failed. */
    private boolean send(Outgoing out, FrameReader in) throws IOException {
        try {
            return out.write(next);
        } catch (IOException e) {
            hear(in);
            throw e;
        }
    }

    private void hear(FrameReader expected) throws IOException {
        FrameReader in = expected;
        long until = System.nanoTime() + NEWS_TIME.toNanos();
        while (System.nanoTime() < until) {
            if (in.isDone()) {
                in = FrameReader.ofNews();
            }
            try {
                if (!in.read(previous)) {
                    await(0, SelectionKey.OP_READ, 50);
                }
            } catch (IllegalStateException e) {
                return; // the rank before goes on, so it knows of nothing either
            }
        }
    }

    private void await(int sending, int receiving, long millis) throws IOException {
        toNext.interestOps(sending);
        fromPrevious.interestOps(receiving);
        selector.select(millis);
        selector.selectedKeys().clear();
        if (Thread.currentThread().isInterrupted()) {
            throw new CollectiveException(
                    rank, "Cannot go on with the update: rank " + rank + " was told to stop", null);
        }
    }

    private CollectiveException quiet(Outgoing out, FrameReader in) {
        String what = in.isDone()
                ? "rank " + number(rank + 1) + " took nothing from rank " + rank
                : "nothing came from rank " + number(rank - 1) + " to rank " + rank;
        return new CollectiveException(
                rank,
                "Cannot go on with the update: " + what + " for " + timeout.toSeconds() + " s, with "
                        + out.remaining() + " bytes to send and " + (in.isDone() ? "none" : "some") + " to receive;"
                        + " look at the log of that rank's executor and of those before it, or raise"
                        + " trainer.nccl_timeout if ranks are merely slow",
                null);
    }

    @Override
    public void abort(Throwable cause) {
        try (this) {
            // In the middle of a frame nothing can be said: the others find the connection closed.
            if (sending == null || sending.isDone()) {
                tell(Outgoing.abort(origin(cause), reason(cause)));
            }
        } catch (IOException | RuntimeException e) {
            cause.addSuppressed(e); // the others find out by the closed connection
        }
    }

    private int origin(Throwable cause) {
        return cause instanceof CollectiveException heard ? heard.origin() : rank;
    }

    private static byte[] reason(Throwable cause) {
        byte[] text = String.valueOf(cause.getMessage() == null ? cause : cause.getMessage())
                .getBytes(UTF_8);
        return text.length <= LONGEST_REASON ? text : Arrays.copyOf(text, LONGEST_REASON);
    }

    private void tell(Outgoing message) throws IOException {
        long deadline = System.nanoTime() + ABORT_TIME.toNanos();
        while (!message.isDone() && System.nanoTime() < deadline) {
            if (!message.write(next)) {
                await(SelectionKey.OP_WRITE, 0, 50);
            }
        }
    }

    @Override
    public void close() {
        for (Closeable one : List.of(next, previous, selector)) {
            try {
                one.close();
            } catch (IOException e) {
                LOG.debug("Cannot close a connection of rank {}", rank, e); // whatever mattered was received before
            }
        }
    }
}
