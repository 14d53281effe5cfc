package io.bellows.training.collective;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * What stands before each transfer, so that ranks that do different things find out.
 *
 * @param kind what is transferred
 * @param number counted from 1 on every rank; the rank that failed for {@link Kind#ABORT}
 * @param bytes length of what follows
 */
record Frame(Kind kind, int number, long bytes) {

    static final int LENGTH = 2 * Integer.BYTES + Long.BYTES;

    /** What a transfer is for. */
    enum Kind {
        /** A block to be added. */
        ADD(1),
        /** A block to be copied. */
        COPY(2),
        /** What a rank has to say. */
        GATHER(3),
        /** The reason why a rank cannot go on. */
        ABORT(4);

        private final int code;

        Kind(int code) {
            this.code = code;
        }

        private static Kind of(int code) {
            return Arrays.stream(values())
                    .filter(kind -> kind.code == code)
                    .findFirst()
                    .orElseThrow(() -> new IllegalStateException("Invalid frame of kind " + code
                            + " from another rank: do all executors run the same jar?"));
        }
    }

    ByteBuffer encoded() {
        return ByteBuffer.allocate(LENGTH)
                .putInt(kind.code)
                .putInt(number)
                .putLong(bytes)
                .flip();
    }

    static Frame decode(ByteBuffer header) {
        return new Frame(Kind.of(header.getInt()), header.getInt(), header.getLong());
    }
}
