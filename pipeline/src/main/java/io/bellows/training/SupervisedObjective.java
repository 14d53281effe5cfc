package io.bellows.training;

import io.bellows.model.TokenScores;
import io.bellows.udfs.loss.BatchTotals;
import io.bellows.udfs.loss.LossAggregation;
import io.bellows.udfs.loss.LossGradient;
import io.bellows.udfs.loss.Sequences;
import io.bellows.udfs.loss.SftLoss;
import java.util.List;

/** Supervised fine-tuning: the mean negative log-likelihood of the completions' tokens. */
public record SupervisedObjective() implements Objective {

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
    public LossGradient compute(
            List<TrainingSequence> rows, Sequences sequences, TokenScores scores, BatchTotals totals) {
        return new SftLoss(LossAggregation.TOKEN_MEAN).compute(sequences, scores.logProbs(), totals);
    }
}
