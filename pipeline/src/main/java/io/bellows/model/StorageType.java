package io.bellows.model;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;

/** How a safetensors file stores floating-point numbers, and the conversion from and to fp32. */
public enum StorageType {
    /** IEEE single precision. */
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
    /** The upper half of single precision. */
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
    },
    /** IEEE half precision. */
    F16(2) {
        private static final float MAX_HALF = 65504;
        private static final float SUBNORMAL_STEP = 0x1p-24f;
        private static final float SMALLEST_NORMAL = 0x1p-14f;

        @Override
        void read(ByteBuffer from, FloatBuffer to) {
            while (from.hasRemaining()) {
                to.put(toFloat(from.getShort()));
            }
        }

        @Override
        void write(FloatBuffer from, ByteBuffer to) {
            while (from.hasRemaining()) {
                to.putShort(toHalf(from.get()));
            }
        }

        private static float toFloat(short half) {
            int exponent = (half >> 10) & 0x1f;
            int mantissa = half & 0x3ff;
            float magnitude;
            if (exponent == 0) {
                magnitude = mantissa * SUBNORMAL_STEP;
            } else {
                int wide = exponent == 0x1f ? 0xff : exponent + 112;
                magnitude = Float.intBitsToFloat(wide << 23 | mantissa << 13);
            }
            return half < 0 ? -magnitude : magnitude;
        }

        private static short toHalf(float value) {
            int sign = (Float.floatToRawIntBits(value) >>> 16) & 0x8000;
            float magnitude = Math.abs(value);
            if (!(magnitude < MAX_HALF + 16)) { // half a step above the largest
                throw new ArithmeticException("Cannot store " + value + " as F16: its range ends at " + MAX_HALF);
            }
            if (magnitude < SMALLEST_NORMAL) {
                return (short) (sign | (int) Math.rint(magnitude / SUBNORMAL_STEP));
            }
            int bits = Float.floatToRawIntBits(magnitude);
            return (short) (sign | ((bits + 0xfff + ((bits >>> 13) & 1)) >>> 13) - (112 << 10));
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
