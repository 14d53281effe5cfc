package io.bellows.training.collective;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** A frame on its way in: the one that is expected, or the news that a rank cannot go on. */
final class FrameReader {

    private final Frame expected;
    private final Incoming payload;
    private final ByteBuffer header = ByteBuffer.allocate(Frame.LENGTH);
    private Frame frame;
    private Incoming.AnyLength reason;
    private boolean failed;

    /** @param expected the kind and number of the frame; its length is checked by {@code payload} */
    FrameReader(Frame expected, Incoming payload) {
        this.expected = expected;
        this.payload = payload;
    }

    /** Reads the news that a rank cannot go on, and takes nothing else. */
    static FrameReader ofNews() {
        return new FrameReader(new Frame(Frame.Kind.ABORT, 0, 0), new Incoming.Exact());
    }

    boolean isDone() {
        return frame != null && reason == null && payload.isDone();
    }

    /** Whether reading failed. */
    boolean failed() {
        return failed;
    }

    /**
     * Reads what the channel has; returns whether it had anything.
     *
     * @throws CollectiveException if a rank has told that it cannot go on
     */
    boolean read(SocketChannel channel) throws IOException {
        try {
            boolean moved = frame == null ? readHeader(channel) : reader().read(channel);
            if (reason != null && reason.isDone()) {
                throw new CollectiveException(frame.number(), new String(reason.content(), UTF_8), null);
            }
            return moved;
        } catch (IOException e) {
            failed = true;
            throw e;
        }
    }

    private Incoming reader() {
        return reason == null ? payload : reason;
    }

    private boolean readHeader(SocketChannel channel) throws IOException {
        long count = Incoming.read(channel, new ByteBuffer[] {header}, 0);
        if (header.hasRemaining()) {
            return count > 0;
        }
        frame = Frame.decode(header.flip());
        if (frame.kind() == Frame.Kind.ABORT) {
            reason = new Incoming.AnyLength();
        } else if (frame.kind() != expected.kind() || frame.number() != expected.number()) {
            throw new IllegalStateException("Invalid transfer " + frame.number() + " (" + frame.kind()
                    + ") from another rank, expected " + expected.number() + " (" + expected.kind()
                    + "): the ranks do different things; do all executors run the same jar?");
        }
        reader().begin(frame.bytes());
        return true;
    }
}
