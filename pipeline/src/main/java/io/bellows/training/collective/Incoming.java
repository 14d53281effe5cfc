package io.bellows.training.collective;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;

/** Where the payload of a frame goes. */
interface Incoming {

    /** The header of the frame came. */
    void begin(long bytes);

    boolean isDone();

    /** Reads what the channel has; returns whether it had anything. */
    boolean read(SocketChannel channel) throws IOException;

    /** Reads into buffers, and notices that the other side has closed. */
    static long read(SocketChannel channel, ByteBuffer[] buffers, int first) throws IOException {
        long count = channel.read(buffers, first, buffers.length - first);
        if (count < 0) {
            throw new EOFException("the connection was closed");
        }
        return count;
    }

    private static void requireLength(long bytes, long expected) {
        if (bytes != expected) {
            throw new IllegalStateException("Invalid transfer of " + bytes + " bytes, expected " + expected
                    + ": the ranks hold models of different shape");
        }
    }

    /** Straight into the memory of a vector. */
    final class Exact implements Incoming {
        private final ByteBuffer[] target;
        private int first;

        Exact(ByteBuffer... target) {
            this.target = target;
        }

        @Override
        public void begin(long bytes) {
            requireLength(bytes, Outgoing.bytes(target));
        }

        @Override
        public boolean isDone() {
            return first == target.length;
        }

        @Override
        public boolean read(SocketChannel channel) throws IOException {
            long count = Incoming.read(channel, target, first);
            while (first < target.length && !target[first].hasRemaining()) {
                first++;
            }
            return count > 0;
        }
    }

    /** Added to what is in a vector, as it comes. */
    final class Added implements Incoming {
        private final FloatVector vector;
        private final long from;
        private final long to;
        private final ByteBuffer staging;
        private long at;

        Added(FloatVector vector, long from, long to, ByteBuffer staging) {
            this.vector = vector;
            this.from = from;
            this.to = to;
            this.at = from;
            this.staging = staging.clear().order(ByteOrder.LITTLE_ENDIAN);
        }

        @Override
        public void begin(long bytes) {
            requireLength(bytes, (to - from) * Float.BYTES);
        }

        @Override
        public boolean isDone() {
            return at == to;
        }

        @Override
        public boolean read(SocketChannel channel) throws IOException {
            long left = (to - at) * Float.BYTES - staging.position();
            staging.limit((int) Math.min(staging.capacity(), staging.position() + left));
            long count = Incoming.read(channel, new ByteBuffer[] {staging}, 0);
            staging.flip();
            int whole = staging.remaining() / Float.BYTES * Float.BYTES;
            at = vector.add(
                    at, staging.slice(0, whole).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer());
            staging.position(whole).compact();
            return count > 0;
        }
    }

    /** Into an array of whatever length the sender says. */
    final class AnyLength implements Incoming {
        private static final int MOST = 1 << 28;

        private ByteBuffer content;

        @Override
        public void begin(long bytes) {
            if (bytes < 0 || bytes > MOST) {
                throw new IllegalStateException("Invalid message of " + bytes + " bytes from another rank");
            }
            content = ByteBuffer.allocate((int) bytes);
        }

        @Override
        public boolean isDone() {
            return content != null && !content.hasRemaining();
        }

        @Override
        public boolean read(SocketChannel channel) throws IOException {
            return Incoming.read(channel, new ByteBuffer[] {content}, 0) > 0;
        }

        byte[] content() {
            return content.array();
        }
    }
}
