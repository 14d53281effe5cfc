package io.bellows.model;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;

/** How a safetensors file stores floating-point numbers, and the conversion from and to fp32. */
enum StorageType {
    F32(4) {
        @Override
        void read(ByteBuffer from, FloatBuffer to) {
            to.put(from.asFloatBuffer());
        }

        @Override
        void write(FloatBuffer from, ByteBuffer to) {
            int bytes = from.remaining() * Float.BYTES;
            to.asFloatBuffer().put(from);
            to.position(to.position() + bytes);
        }
    },
    BF16(2) {
        @Override
        void read(ByteBuffer from, FloatBuffer to) {
            while (from.hasRemaining()) {
                to.put(Float.intBitsToFloat(from.getShort() << 16));
            }
        }

        @Override
        void write(FloatBuffer from, ByteBuffer to) {
            while (from.hasRemaining()) {
                to.putShort(roundToNearestEven(from.get()));
            }
        }

        private static short roundToNearestEven(float value) {
            int bits = Float.floatToRawIntBits(value);
            if (Float.isNaN(value)) {
                return (short) ((bits >>> 16) | 0x40); // stays a quiet NaN, never becomes an infinity
            }
            return (short) ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16);
        }
    };

    private final int bytes;

    StorageType(int bytes) {
        this.bytes = bytes;
    }

    /** Bytes of one element. */
    int bytes() {
        return bytes;
    }

    /** Converts all of {@code from}, little-endian, to fp32. */
    abstract void read(ByteBuffer from, FloatBuffer to);

    /** Converts all of {@code from} to this type, little-endian, advancing {@code to}. */
    abstract void write(FloatBuffer from, ByteBuffer to);
}
