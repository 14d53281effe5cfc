package io.bellows.training;

import io.bellows.model.ValuePass;
import io.bellows.udfs.loss.BatchTotals;
import io.bellows.udfs.loss.LossAggregation;
import io.bellows.udfs.loss.Sequences;
import io.bellows.udfs.loss.ValueGradient;
import io.bellows.udfs.loss.ValueLoss;

/**
 * The objective of a critic: its values come close to the returns, clipped around the values before the update.
 *
 * @param clipRange {@code critic.cliprange_value}
 * @param aggregation {@code critic.loss_agg_mode}
 * @param lossScaleFactor divisor of {@code seq-mean-token-sum-norm}
 */
public record ValueObjective(double clipRange, LossAggregation aggregation, double lossScaleFactor)
        implements Objective {

    @Override
    public String section() {
        return "critic";
    }

    @Override
    public BatchTotals totals(Sequences sequences) {
        return BatchTotals.of(sequences, lossScaleFactor);
    }

    @Override
    public Part accumulate(TrainedModel model, MicroBatch batch, BatchTotals totals) {
        try (ValuePass pass = model.decoder().forwardValues(model.weights(), batch.packed())) {
            ValueGradient loss = new ValueLoss(clipRange, aggregation)
                    .compute(
                            batch.sequences(),
                            pass.values(),
                            batch.joined(TrainingSequence::values),
                            batch.joined(TrainingSequence::returns),
                            totals);
            pass.backward(model.gradients(), Floats.of(loss.dValue()));
            return new Part(loss.loss(), loss.metrics());
        }
    }
}
