package io.bellows.udfs.advantage;

import io.bellows.udfs.statistics.Moments;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * How much better than expected each sampled token of a batch turned out, verl's {@code algorithm.adv_estimator}. An estimator sees
 * one group at a time, the samples of one prompt; what needs the whole batch is named by {@link #batchNormalization}, so that a batch
 * can be spread over machines. Everything is computed in double precision. Implementations are immutable.
 *
 * <p>All estimators have this in common: a sample without a score is absent, it changes nothing and has advantages of 0; tokens
 * that were not sampled have advantage and return 0 and change nothing; a group that compares nothing, because fewer than two of
 * its samples have a score or because all scores are equal, has advantages of exactly 0 where the estimator compares,
 * before the batch is whitened. {@link OptimalTokenBaseline} compares by step and knows the first of the two cases only.
 */
public interface AdvantageEstimator extends Serializable {

    /** What an estimator reads besides scores, token rewards and masks. */
    enum Input {
        /** Values of a critic, one per token. */
        VALUES,
        /** The score of a greedy response to the same prompt. */
        BASELINE,
        /** Log-probs of the policy that sampled, and the sum of the squared probabilities of each distribution. */
        SQUARED_PROBABILITIES,
        /** Each reward by itself, not only their weighted sum. */
        REWARDS
    }

    /**
     * Advantages and returns of the samples of one group, before {@link #batchNormalization}.
     *
     * @param group samples of one prompt
     * @return one entry per sample, in the same order
     * @throws IllegalArgumentException if a sample lacks something that is in {@link #inputs}
     */
    List<Advantages> estimate(List<Sample> group);

    /** What is done to the advantages once those of the whole batch are known. */
    default BatchNormalization batchNormalization() {
        return BatchNormalization.NONE;
    }

    /** What {@link #estimate} reads besides scores, token rewards and masks. */
    default Set<Input> inputs() {
        return Set.of();
    }

    /**
     * Whether the returns of a batch are its advantages, normalized as they are; otherwise normalization leaves returns alone,
     * since a critic may learn from them.
     */
    default boolean returnsAreAdvantages() {
        return false;
    }

    /** Whether a sample is compared with the others of its group, so that a group of one teaches nothing. */
    default boolean comparesGroup() {
        return false;
    }

    /**
     * Advantages and returns of a batch, {@link #batchNormalization} included.
     *
     * @param groups the groups of the batch, each as for {@link #estimate}
     * @return one list per group, in the same order
     */
    default List<List<Advantages>> estimateBatch(List<List<Sample>> groups) {
        List<List<Advantages>> raw = new ArrayList<>();
        Moments tokens = Moments.NONE;
        long scored = 0;
        long nonZero = 0;
        for (List<Sample> group : groups) {
            List<Advantages> estimates = estimate(group);
            raw.add(estimates);
            for (int i = 0; i < group.size(); i++) {
                Sample sample = group.get(i);
                if (!sample.isAbsent()) {
                    tokens = tokens.merge(Moments.of(estimates.get(i).advantages(), sample.mask()));
                    scored++;
                    nonZero += sample.score() == 0 ? 0 : 1;
                }
            }
        }
        BatchNormalization.Rescaling rescaling = batchNormalization().rescaling(tokens, scored, nonZero);
        List<List<Advantages>> rescaled = new ArrayList<>();
        for (int g = 0; g < groups.size(); g++) {
            List<Advantages> members = new ArrayList<>();
            for (int i = 0; i < groups.get(g).size(); i++) {
                Sample sample = groups.get(g).get(i);
                Advantages estimate = raw.get(g).get(i);
                Advantages normalized = sample.isAbsent() ? estimate : estimate.rescaled(rescaling, sample.mask());
                members.add(returnsAreAdvantages() ? normalized.withAdvantagesAsReturns() : normalized);
            }
            rescaled.add(members);
        }
        return rescaled;
    }
}
