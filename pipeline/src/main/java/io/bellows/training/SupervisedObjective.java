package io.bellows.training;

import io.bellows.model.TokenScores;
import io.bellows.udfs.loss.BatchTotals;
import io.bellows.udfs.loss.LossAggregation;
import io.bellows.udfs.loss.LossGradient;
import io.bellows.udfs.loss.Sequences;
import io.bellows.udfs.loss.SftLoss;

/** Supervised fine-tuning: the mean negative log-likelihood of the completions' tokens. */
public record SupervisedObjective() implements TokenObjective {

    private static final double NO_SCALE = 1;

    @Override
    public double temperature() {
        return 1;
    }

    @Override
    public BatchTotals totals(Sequences sequences) {
        return BatchTotals.of(sequences, NO_SCALE);
    }

    @Override
    public LossGradient compute(MicroBatch batch, TokenScores scores, BatchTotals totals) {
        return new SftLoss(LossAggregation.TOKEN_MEAN).compute(batch.sequences(), scores.logProbs(), totals);
    }
}
