package io.bellows.data;

import java.util.Arrays;
import java.util.Random;

/**
 * The order in which a run reads its dataset: each epoch is a permutation that depends on the seed and the epoch alone, cut
 * into batches that never cross the end of an epoch.
 */
public final class EpochOrder {

    /** Whether the order changes from the order of the files. */
    public enum Shuffle {
        NONE,
        EACH_EPOCH
    }

    /** What becomes of the rows at the end of an epoch that fill no batch. */
    public enum Remainder {
        /** They are left out this epoch. */
        DROP,
        /** They make a smaller batch. */
        KEEP
    }

    /**
     * The rows of one iteration.
     *
     * @param rowIndices positions in the dataset, in the order of the batch
     * @param cursor where the batch starts
     * @param next where the batch after it starts
     */
    @SuppressWarnings("ArrayRecordComponent") // carried, never compared
    public record Batch(long[] rowIndices, Cursor cursor, Cursor next) {}

    private final int rows;
    private final long seed;
    private final Shuffle shuffle;
    private final Remainder remainder;

    /**
     * An order over {@code rows} rows.
     *
     * @throws IllegalArgumentException when there are no rows, or more than an array holds
     */
    public EpochOrder(long rows, long seed, Shuffle shuffle, Remainder remainder) {
        if (rows < 1 || rows > Integer.MAX_VALUE - 8) {
            throw new IllegalArgumentException("Invalid number of rows " + rows + ": expected 1 to 2^31-9");
        }
        this.rows = (int) rows;
        this.seed = seed;
        this.shuffle = shuffle;
        this.remainder = remainder;
    }

    /** Batches of an epoch. */
    public long batchesPerEpoch(int batchSize) {
        checkBatchSize(batchSize);
        return remainder == Remainder.DROP ? rows / batchSize : (rows + batchSize - 1L) / batchSize;
    }

    /**
     * The batch that starts at a cursor, or at the next epoch where too few rows are left.
     *
     * @throws IllegalArgumentException when the batch is larger than the dataset and the remainder is dropped
     */
    public Batch batch(Cursor cursor, int batchSize) {
        checkBatchSize(batchSize);
        long left = rows - cursor.offset();
        boolean exhausted = left <= 0 || (remainder == Remainder.DROP && left < batchSize);
        Cursor start = exhausted ? new Cursor(cursor.epoch() + 1, 0) : cursor;
        int from = (int) start.offset();
        int until = (int) Math.min(rows, (long) from + batchSize);
        long[] indices = Arrays.copyOfRange(permutation(start.epoch()), from, until);
        return new Batch(indices, start, new Cursor(start.epoch(), until));
    }

    /** The dataset positions of an epoch in the order they are read. */
    long[] permutation(int epoch) {
        long[] order = new long[rows];
        Arrays.setAll(order, i -> i);
        if (shuffle == Shuffle.NONE) {
            return order;
        }
        // java.util.Random: the one generator whose sequence the platform's documentation fixes for all versions.
        Random random = new Random(mixed(seed + 0x9E3779B97F4A7C15L * (epoch + 1)));
        for (int i = rows - 1; i > 0; i--) {
            int j = random.nextInt(i + 1);
            long swapped = order[i];
            order[i] = order[j];
            order[j] = swapped;
        }
        return order;
    }

    private void checkBatchSize(int batchSize) {
        if (batchSize < 1) {
            throw new IllegalArgumentException("Invalid batch size " + batchSize + ": expected at least 1");
        }
        if (remainder == Remainder.DROP && batchSize > rows) {
            throw new IllegalArgumentException("Invalid data.train_batch_size=" + batchSize + ": the dataset has "
                    + rows + " rows; lower it or give more data");
        }
    }

    /** The finalizer of SplitMix64: neighbouring seeds and epochs give unrelated permutations. */
    private static long mixed(long z) {
        long a = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        long b = (a ^ (a >>> 27)) * 0x94D049BB133111EBL;
        return b ^ (b >>> 31);
    }
}
