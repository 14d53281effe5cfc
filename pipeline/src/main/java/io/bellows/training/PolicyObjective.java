package io.bellows.training;

import io.bellows.config.ActorConfig;
import io.bellows.model.TokenScores;
import io.bellows.udfs.loss.ActorLoss;
import io.bellows.udfs.loss.BatchTotals;
import io.bellows.udfs.loss.KlPenalty;
import io.bellows.udfs.loss.LossAggregation;
import io.bellows.udfs.loss.LossGradient;
import io.bellows.udfs.loss.PolicyBatch;
import io.bellows.udfs.loss.Sequences;
import java.util.List;
import java.util.function.Function;

/**
 * The policy objective of PPO and its kin: policy loss, entropy bonus and divergence from a reference.
 *
 * @param actor the section {@code actor} of the configuration
 * @param temperature the temperature of the rollout
 * @param lossScaleFactor divisor of {@code seq-mean-token-sum-norm}
 */
public record PolicyObjective(ActorConfig actor, double temperature, double lossScaleFactor) implements Objective {

    @Override
    public BatchTotals totals(Sequences sequences) {
        return BatchTotals.of(sequences, lossScaleFactor);
    }

    @Override
    public LossGradient compute(
            List<TrainingSequence> rows, Sequences sequences, TokenScores scores, BatchTotals totals) {
        PolicyBatch.Builder batch = PolicyBatch.of(sequences)
                .logProbs(scores.logProbs())
                .entropies(scores.entropies())
                .oldLogProbs(joined(rows, TrainingSequence::oldLogProbs))
                .advantages(joined(rows, TrainingSequence::advantages));
        if (actor.useKlLoss()) {
            batch.refLogProbs(joined(rows, TrainingSequence::refLogProbs));
        }
        return loss().compute(batch.build(), totals);
    }

    private ActorLoss loss() {
        ActorLoss loss = new ActorLoss(actor.newPolicyLoss(), LossAggregation.of(actor.lossAggMode()))
                .withEntropyBonus(actor.entropyCoeff());
        return actor.useKlLoss() ? loss.withKlLoss(KlPenalty.of(actor.klLossType()), actor.klLossCoef()) : loss;
    }

    private static float[] joined(List<TrainingSequence> rows, Function<TrainingSequence, float[]> column) {
        float[] all = new float
                [rows.stream().mapToInt(row -> row.responseIds().length).sum()];
        int at = 0;
        for (TrainingSequence row : rows) {
            float[] values = column.apply(row);
            System.arraycopy(values, 0, all, at, values.length);
            at += values.length;
        }
        return all;
    }
}
