package io.bellows.training;

import ai.djl.ndarray.NDArray;
import io.bellows.model.Gradients;
import io.bellows.model.TensorMemory;
import io.bellows.training.collective.Collective;
import io.bellows.training.collective.FloatVector;
import io.bellows.udfs.loss.BatchTotals;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * What the ranks of an optimizer step do together (ZeRO stage 1: Rajbhandari et al., "ZeRO: memory optimizations toward training
 * trillion parameter models", 2020). Each rank has all weights and all gradients of its own rows. Gradients are summed so that each
 * rank has the sum of its block; it steps on that block with its share of the optimizer state; then the blocks of weights are
 * copied to all. One rank does none of it.
 */
final class Sharding {

    private final Collective ranks;
    private final Gradients all;
    private final Gradients own;
    private final TensorMemory gradients;
    private final TensorMemory weights;
    private long nanos;

    Sharding(TrainedModel model, AdamW optimizer, Collective ranks) {
        this.ranks = ranks;
        this.all = model.gradients();
        this.own = optimizer.own(all);
        this.gradients = TensorMemory.of(all.tensors());
        List<NDArray> parameters = List.copyOf(model.weights().parameters().values());
        this.weights = TensorMemory.of(parameters);
    }

    /** What a step found out before it changes anything. */
    record Gradient(double norm, boolean finite) {}

    /** This rank's gradients: all of them, or of its block. */
    Gradients own() {
        return own;
    }

    boolean speaks() {
        return ranks.rank() == 0;
    }

    /** Seconds spent in exchanges, waiting for other ranks included. */
    double seconds() {
        return nanos / 1e9;
    }

    BatchTotals sum(BatchTotals totals) {
        if (ranks.size() == 1) {
            return totals;
        }
        double[] sums = sum(totals.tokens(), totals.sequences());
        return new BatchTotals((long) sums[0], (long) sums[1], totals.lossScaleFactor());
    }

    /**
     * Sums the gradients of all ranks.
     *
     * @param finite whether the loss of this rank's rows is finite
     * @return the norm of the sum, and whether every rank's loss and the sum are finite: the same on every rank
     */
    Gradient reduce(boolean finite) {
        if (ranks.size() == 1) {
            double norm = all.norm();
            return new Gradient(norm, finite && Double.isFinite(norm));
        }
        timed(() -> {
            ranks.reduceScatter(FloatVector.of(gradients.read()));
            gradients.write();
        });
        double norm = own.norm();
        double[] sums = sum(norm * norm, finite ? 0 : 1);
        return new Gradient(Math.sqrt(sums[0]), sums[1] == 0 && Double.isFinite(sums[0]));
    }

    /** Copies each rank's block of the weights to all. */
    void share() {
        if (ranks.size() > 1) {
            timed(() -> {
                ranks.allGather(FloatVector.of(weights.read()));
                weights.write();
            });
        }
    }

    /**
     * Makes sure that all ranks have the same weights, bit for bit.
     *
     * @throws IllegalStateException if they differ
     */
    void requireSameWeights() {
        if (ranks.size() == 1) {
            return;
        }
        CRC32C checksum = new CRC32C();
        weights.read().forEach(buffer -> checksum.update(buffer.duplicate()));
        List<Long> checksums = new ArrayList<>();
        byte[] told =
                ByteBuffer.allocate(Long.BYTES).putLong(checksum.getValue()).array();
        ranks.gather(told).forEach(bytes -> checksums.add(ByteBuffer.wrap(bytes).getLong()));
        if (checksums.stream().distinct().count() > 1) {
            throw new IllegalStateException("Cannot keep the update: the weights of its ranks differ, with checksums "
                    + checksums + " by rank; do all executors run the same jar on the same kind of machine?");
        }
    }

    /** Sums in the order of the ranks, so that every rank has the same bits. */
    private double[] sum(double... values) {
        ByteBuffer own = ByteBuffer.allocate(values.length * Double.BYTES);
        for (double value : values) {
            own.putDouble(value);
        }
        double[] sums = new double[values.length];
        timed(() -> ranks.gather(own.array()).forEach(bytes -> {
            ByteBuffer others = ByteBuffer.wrap(bytes);
            for (int i = 0; i < sums.length; i++) {
                sums[i] += others.getDouble();
            }
        }));
        return sums;
    }

    private void timed(Runnable exchange) {
        long start = System.nanoTime();
        exchange.run();
        nanos += System.nanoTime() - start;
    }
}
