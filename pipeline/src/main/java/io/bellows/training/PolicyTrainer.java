package io.bellows.training;

import io.bellows.model.Decoder;
import io.bellows.model.ForwardPass;
import io.bellows.model.Gradients;
import io.bellows.model.PackedSequences;
import io.bellows.model.Weights;
import io.bellows.udfs.batching.MicroBatches;
import io.bellows.udfs.loss.BatchTotals;
import io.bellows.udfs.loss.LossGradient;
import io.bellows.udfs.loss.Sequences;
import io.bellows.udfs.metrics.Metric;
import io.bellows.udfs.metrics.Metrics;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/** Takes optimizer steps on weights in place: one per mini-batch, accumulated over micro-batches of a token budget. */
public final class PolicyTrainer {

    private static final int MAX_SKIPPED_IN_A_ROW = 10;

    private final Decoder decoder;
    private final Weights weights;
    private final Gradients gradients;
    private final AdamW optimizer;
    private final UpdateSettings settings;

    /**
     * Creates a trainer.
     *
     * @param decoder runs the model
     * @param weights updated in place
     * @param gradients the weights' gradients, zero between steps
     * @param optimizer holds the moments
     * @param settings objective, schedule and budgets
     */
    public PolicyTrainer(
            Decoder decoder, Weights weights, Gradients gradients, AdamW optimizer, UpdateSettings settings) {
        this.decoder = decoder;
        this.weights = weights;
        this.gradients = gradients;
        this.optimizer = optimizer;
        this.settings = settings;
    }

    /**
     * Takes one optimizer step.
     *
     * @param batch the rows of the mini-batch
     * @return metrics of the step, under verl's names
     * @throws IllegalStateException if the gradient was not finite ten times in a row, counted over all updates of a run
     */
    public Metrics step(List<TrainingSequence> batch) {
        gradients.zero();
        BatchTotals totals = settings.objective().totals(responses(batch));
        Metrics metrics = Metrics.empty();
        int[] lengths = batch.stream().mapToInt(TrainingSequence::length).toArray();
        for (int[] micro : MicroBatches.plan(lengths, settings.maxTokens())) {
            metrics = metrics.merge(
                    accumulate(Arrays.stream(micro).mapToObj(batch::get).toList(), totals));
        }
        return metrics.merge(apply());
    }

    /**
     * Returns the optimizer steps taken over all starts of the run.
     *
     * @return the count
     */
    public long optimizerSteps() {
        return optimizer.stepsTaken();
    }

    private Metrics accumulate(List<TrainingSequence> rows, BatchTotals totals) {
        // An empty response has no token in the loss. By length: the decoder attends to equal lengths in one call.
        List<TrainingSequence> scored = rows.stream()
                .filter(row -> row.responseIds().length > 0)
                .sorted(Comparator.comparingInt(TrainingSequence::length))
                .toList();
        if (scored.isEmpty()) {
            return Metrics.empty();
        }
        PackedSequences packed = PackedSequences.of(
                scored.stream().map(TrainingSequence::sequence).toList());
        try (ForwardPass pass =
                decoder.forward(weights, packed, settings.objective().temperature())) {
            LossGradient loss = settings.objective().compute(scored, responses(scored), pass.scores(), totals);
            pass.backward(gradients, toFloats(loss.dLogProb()), toFloats(loss.dEntropy()));
            return loss.metrics();
        }
    }

    private Metrics apply() {
        double norm = gradients.norm();
        double learningRate = settings.schedule().at(optimizer.stepsTaken());
        Metrics metrics = Metrics.empty().with("actor/lr", Metric.mean(learningRate, 1));
        if (!Double.isFinite(norm)) {
            int skippedInARow = optimizer.skip();
            if (skippedInARow >= MAX_SKIPPED_IN_A_ROW) {
                throw new IllegalStateException(
                        "Cannot train on: the gradient norm was not finite " + skippedInARow
                                + " times in a row. Lower actor.optim.lr, or look for extreme rewards and log-probs in the tables.");
            }
            return metrics.with("actor/skipped_steps", Metric.sum(1));
        }
        if (settings.gradClip() > 0 && norm > settings.gradClip()) {
            gradients.scale(settings.gradClip() / (norm + 1e-6));
        }
        optimizer.step(gradients, learningRate);
        return metrics.with("actor/grad_norm", Metric.mean(norm, 1)).with("actor/skipped_steps", Metric.sum(0));
    }

    /** The response tokens of some rows, laid end to end. */
    private static Sequences responses(List<TrainingSequence> rows) {
        int[] bounds = new int[rows.size() + 1];
        for (int i = 0; i < rows.size(); i++) {
            bounds[i + 1] = bounds[i] + rows.get(i).responseIds().length;
        }
        boolean[] mask = new boolean[bounds[rows.size()]];
        for (int i = 0; i < rows.size(); i++) {
            System.arraycopy(rows.get(i).mask(), 0, mask, bounds[i], rows.get(i).mask().length);
        }
        return Sequences.of(bounds, mask);
    }

    private static float[] toFloats(double[] values) {
        float[] floats = new float[values.length];
        for (int i = 0; i < values.length; i++) {
            floats[i] = (float) values[i];
        }
        return floats;
    }
}
