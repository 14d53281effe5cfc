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

/**
 * The policy objective of PPO and its kin: policy loss, entropy bonus and divergence from a reference.
 *
 * @param actor the section {@code actor} of the configuration
 * @param temperature the temperature of the rollout
 * @param lossScaleFactor divisor of {@code seq-mean-token-sum-norm}
 */
public record PolicyObjective(ActorConfig actor, double temperature, double lossScaleFactor) implements TokenObjective {

    @Override
    public BatchTotals totals(Sequences sequences) {
        return BatchTotals.of(sequences, lossScaleFactor);
    }

    @Override
    public LossGradient compute(MicroBatch batch, TokenScores scores, BatchTotals totals) {
        PolicyBatch.Builder tokens = PolicyBatch.of(batch.sequences())
                .logProbs(scores.logProbs())
                .entropies(scores.entropies())
                .oldLogProbs(batch.joined(TrainingSequence::oldLogProbs))
                .advantages(batch.joined(TrainingSequence::advantages));
        if (actor.useKlLoss()) {
            tokens.refLogProbs(batch.joined(TrainingSequence::refLogProbs));
        }
        return loss().compute(tokens.build(), totals);
    }

    private ActorLoss loss() {
        ActorLoss loss = new ActorLoss(actor.newPolicyLoss(), LossAggregation.of(actor.lossAggMode()))
                .withEntropyBonus(actor.entropyCoeff());
        return actor.useKlLoss() ? loss.withKlLoss(KlPenalty.of(actor.klLossType()), actor.klLossCoef()) : loss;
    }
}
