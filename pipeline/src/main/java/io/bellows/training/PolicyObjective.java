package io.bellows.training;

import io.bellows.config.ActorConfig;
import io.bellows.config.RolloutCorrectionConfig;
import io.bellows.model.TokenScores;
import io.bellows.training.collective.Collective;
import io.bellows.udfs.correction.Correction;
import io.bellows.udfs.loss.ActorLoss;
import io.bellows.udfs.loss.BatchTotals;
import io.bellows.udfs.loss.GpgPolicyLoss;
import io.bellows.udfs.loss.KlPenalty;
import io.bellows.udfs.loss.LossAggregation;
import io.bellows.udfs.loss.LossGradient;
import io.bellows.udfs.loss.PolicyBatch;
import io.bellows.udfs.loss.PolicyLoss;
import io.bellows.udfs.loss.SelectivePolicyLoss;
import io.bellows.udfs.loss.Sequences;
import io.bellows.udfs.metrics.Metrics;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The policy objective of PPO and its kin: policy loss, entropy bonus and divergence from a reference.
 *
 * <p>Two things look at the whole mini-batch before it is split, for the price of one pass without gradient: a policy loss that chooses
 * tokens, and the rollout correction in bypass mode, where the policy that sampled takes the place of the old one.
 *
 * @param actor the section {@code actor} of the configuration
 * @param correction the section {@code algorithm.rollout_correction}
 * @param temperature the temperature of the rollout
 * @param lossScaleFactor divisor of {@code seq-mean-token-sum-norm}
 * @param seed the run's seed
 */
public record PolicyObjective(
        ActorConfig actor, RolloutCorrectionConfig correction, double temperature, double lossScaleFactor, long seed)
        implements TokenObjective {

    @Override
    public BatchTotals totals(Sequences sequences) {
        return BatchTotals.of(sequences, lossScaleFactor);
    }

    @Override
    public Prepared prepare(
            TrainedModel model, MicroBatching batching, List<TrainingSequence> batch, long step, Collective ranks) {
        boolean corrects = correction.bypassMode() && correction.isActive();
        if (!corrects && !(policyLoss() instanceof SelectivePolicyLoss)) {
            return new Prepared(batch, Metrics.empty());
        }
        List<float[]> logProbs = Passes.over(
                batch,
                batching,
                packed -> model.decoder()
                        .score(model.weights(), packed, temperature)
                        .logProbs());
        RowsOfAllRanks all = RowsOfAllRanks.gather(ranks, batch, logProbs);
        Prepared whole = corrects
                ? corrected(all.rows(), all.logProbs())
                : new Prepared(selected(all.rows(), all.logProbs(), step), Metrics.empty());
        return new Prepared(
                whole.rows().subList(all.first(), all.first() + batch.size()),
                ranks.rank() == 0 ? whole.metrics() : Metrics.empty());
    }

    private List<TrainingSequence> selected(List<TrainingSequence> batch, List<float[]> logProbs, long step) {
        MicroBatch whole = MicroBatch.of(batch);
        long[] seeds = batch.stream().mapToLong(row -> seedOf(row, step)).toArray();
        boolean[] selected = ((SelectivePolicyLoss) policyLoss())
                .select(tokens(whole, Floats.joined(logProbs)).build(), seeds);
        List<TrainingSequence> rows = new ArrayList<>();
        for (int i = 0; i < batch.size(); i++) {
            rows.add(batch.get(i)
                    .withSelected(Arrays.copyOfRange(
                            selected,
                            whole.sequences().start(i),
                            whole.sequences().end(i))));
        }
        return rows;
    }

    private Prepared corrected(List<TrainingSequence> batch, List<float[]> logProbs) {
        MicroBatch whole = MicroBatch.of(batch);
        Correction corrected = correction
                .newCorrection()
                .correct(
                        whole.sequences(),
                        Floats.widened(Floats.joined(logProbs)),
                        Floats.widened(whole.joined(TrainingSequence::oldLogProbs)));
        List<TrainingSequence> rows = new ArrayList<>();
        for (int i = 0; i < batch.size(); i++) {
            int start = whole.sequences().start(i);
            int end = whole.sequences().end(i);
            // The clipped loss has the ratio to the policy that sampled in itself.
            float[] weights = corrected.weights() == null || !correction.isReinforce()
                    ? null
                    : Floats.of(Arrays.copyOfRange(corrected.weights(), start, end));
            rows.add(batch.get(i).corrected(Arrays.copyOfRange(corrected.mask(), start, end), weights));
        }
        return new Prepared(rows, corrected.metrics());
    }

    /** Of what the row is, so that the choice does not depend on the order of rows, and of the step. */
    private long seedOf(TrainingSequence row, long step) {
        return (seed * 31 + step) * 0x9E3779B97F4A7C15L + row.id().hashCode();
    }

    @Override
    public LossGradient compute(MicroBatch batch, TokenScores scores, BatchTotals totals) {
        PolicyBatch.Builder tokens = tokens(batch, scores.logProbs()).entropies(scores.entropies());
        if (actor.useKlLoss()) {
            tokens.refLogProbs(batch.joined(TrainingSequence::refLogProbs));
        }
        return loss().compute(tokens.build(), totals);
    }

    private PolicyBatch.Builder tokens(MicroBatch batch, float[] logProbs) {
        PolicyBatch.Builder tokens = PolicyBatch.of(batch.sequences())
                .logProbs(logProbs)
                .oldLogProbs(batch.joined(TrainingSequence::oldLogProbs))
                .advantages(batch.joined(TrainingSequence::advantages));
        if (batch.rows().stream().anyMatch(row -> row.importanceWeights() != null)) {
            tokens.importanceWeights(batch.joined(TrainingSequence::importanceWeights));
        }
        if (batch.rows().stream().anyMatch(row -> row.selected() != null)) {
            tokens.selected(batch.joinedSelection());
        }
        return tokens;
    }

    private ActorLoss loss() {
        ActorLoss loss = new ActorLoss(policyLoss(), LossAggregation.of(actor.lossAggMode()))
                .withEntropyBonus(actor.entropyCoeff());
        return actor.useKlLoss() ? loss.withKlLoss(KlPenalty.of(actor.klLossType()), actor.klLossCoef()) : loss;
    }

    private PolicyLoss policyLoss() {
        return correction.isReinforce() ? new GpgPolicyLoss() : actor.newPolicyLoss();
    }
}
