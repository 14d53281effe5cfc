package io.bellows.training.collective;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Arrays;

/** A frame on its way out. */
final class Outgoing {

    private final ByteBuffer[] buffers;
    private int first;

    Outgoing(Frame frame, ByteBuffer... payload) {
        buffers = new ByteBuffer[payload.length + 1];
        buffers[0] = frame.encoded();
        System.arraycopy(payload, 0, buffers, 1, payload.length);
    }

    static Outgoing abort(int origin, byte[] reason) {
        return new Outgoing(new Frame(Frame.Kind.ABORT, origin, reason.length), ByteBuffer.wrap(reason));
    }

    static long bytes(ByteBuffer... payload) {
        return Arrays.stream(payload).mapToLong(ByteBuffer::remaining).sum();
    }

    boolean isDone() {
        return first == buffers.length;
    }

    long remaining() {
        return bytes(buffers);
    }

    /** Writes what the channel takes; returns whether it took anything. */
    boolean write(SocketChannel channel) throws IOException {
        long written = channel.write(buffers, first, buffers.length - first);
        while (first < buffers.length && !buffers[first].hasRemaining()) {
            first++;
        }
        return written > 0;
    }
}
