package io.bellows.training.collective;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Several buffers read as one vector of floats, end to end. It holds no values of its own: with direct buffers that alias tensors it
 * is the tensors.
 */
public final class FloatVector {

    private static final int SCRATCH = 1 << 14;

    private final ByteBuffer[] parts;
    private final long[] starts;
    private final float[] own = new float[SCRATCH];
    private final float[] others = new float[SCRATCH];

    private FloatVector(ByteBuffer[] parts, long[] starts) {
        this.parts = parts;
        this.starts = starts;
    }

    /**
     * Lays buffers end to end.
     *
     * @param parts buffers of little-endian floats, from position to limit; their content is read and written, their position is not
     * @return the vector
     */
    public static FloatVector of(List<ByteBuffer> parts) {
        ByteBuffer[] slices = new ByteBuffer[parts.size()];
        long[] starts = new long[slices.length + 1];
        for (int i = 0; i < slices.length; i++) {
            slices[i] = parts.get(i).slice().order(ByteOrder.LITTLE_ENDIAN);
            starts[i + 1] = starts[i] + slices[i].remaining() / Float.BYTES;
        }
        return new FloatVector(slices, starts);
    }

    /**
     * Returns the number of floats.
     *
     * @return at least 0
     */
    public long size() {
        return starts[parts.length];
    }

    /**
     * Returns where a block begins; it ends where the next one begins.
     *
     * @param size number of floats of the vector
     * @param block the block, from 0 to {@code blocks}
     * @param blocks number of blocks
     * @return an index
     */
    public static long start(long size, int block, int blocks) {
        return size * block / blocks;
    }

    /** The bytes of some floats, in buffers of their own position and limit. */
    ByteBuffer[] bytes(long from, long to) {
        List<ByteBuffer> slices = new ArrayList<>();
        for (int i = partOf(from); i < parts.length && starts[i] < to; i++) {
            int begin = (int) (Math.max(from, starts[i]) - starts[i]) * Float.BYTES;
            int end = (int) (Math.min(to, starts[i + 1]) - starts[i]) * Float.BYTES;
            if (end > begin) {
                slices.add(parts[i].slice(begin, end - begin));
            }
        }
        return slices.toArray(ByteBuffer[]::new);
    }

    /** Adds floats to those from an index on, and returns the index behind the last. */
    long add(long from, FloatBuffer values) {
        long at = from;
        for (int i = partOf(from); values.hasRemaining(); i++) {
            FloatBuffer part = parts[i].asFloatBuffer();
            int place = (int) (at - starts[i]);
            while (values.hasRemaining() && place < part.limit()) {
                int count = Math.min(SCRATCH, Math.min(values.remaining(), part.limit() - place));
                values.get(others, 0, count);
                part.get(place, own, 0, count); // through arrays, which the compiler turns into vector instructions
                for (int j = 0; j < count; j++) {
                    own[j] += others[j];
                }
                part.put(place, own, 0, count);
                place += count;
            }
            at = starts[i] + place;
        }
        return at;
    }

    private int partOf(long index) {
        int found = Arrays.binarySearch(starts, index);
        int part = found >= 0 ? found : -found - 2;
        return Math.max(0, part);
    }
}
