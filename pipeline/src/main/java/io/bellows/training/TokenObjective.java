package io.bellows.training;

import io.bellows.model.ForwardPass;
import io.bellows.model.TokenScores;
import io.bellows.udfs.loss.BatchTotals;
import io.bellows.udfs.loss.LossGradient;

/** An objective of a policy: a function of the log-prob and the entropy of each response token. */
public interface TokenObjective extends Objective {

    /**
     * Returns the temperature that log-probs are taken at.
     *
     * @return a positive number
     */
    double temperature();

    /**
     * Returns loss and derivatives of a micro-batch.
     *
     * @param batch the rows
     * @param scores what the policy says about their response tokens now
     * @param totals denominators of the whole mini-batch
     * @return the micro-batch's share of the mini-batch loss, and its derivatives
     */
    LossGradient compute(MicroBatch batch, TokenScores scores, BatchTotals totals);

    @Override
    default String section() {
        return "actor";
    }

    @Override
    default Part accumulate(TrainedModel model, MicroBatch batch, BatchTotals totals) {
        try (ForwardPass pass = model.decoder().forward(model.weights(), batch.packed(), temperature())) {
            LossGradient loss = compute(batch, pass.scores(), totals);
            pass.backward(model.gradients(), Floats.of(loss.dLogProb()), Floats.of(loss.dEntropy()));
            return new Part(loss.loss(), loss.metrics());
        }
    }
}
