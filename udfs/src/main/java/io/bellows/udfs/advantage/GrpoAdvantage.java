package io.bellows.udfs.advantage;

/**
 * Group-relative advantages: {@code (reward − mean) / (std + 1e-6)} over the samples of one prompt (GRPO, Shao et al., arXiv
 * 2402.03300), or {@code reward − mean} (Dr. GRPO, Liu et al., arXiv 2503.20783).
 *
 * <p>Differs from verl on purpose: trajectories that failed are absent from mean and standard deviation and have advantage 0; a
 * group whose valid rewards are all equal has advantages of exactly 0, not float residue; a group with one valid trajectory has
 * advantage 0, not its raw reward (see {@link GroupStatistics#isSingleton}). A trajectory with an empty response counts in its
 * group like any other; it has no token that could carry the advantage.
 */
public final class GrpoAdvantage {
    private static final double EPSILON = 1e-6;

    private GrpoAdvantage() {}

    /** Whether differences are divided by the standard deviation, verl's {@code algorithm.norm_adv_by_std_in_grpo}. */
    public enum Normalization {
        /** GRPO. */
        BY_STD,
        /** Dr. GRPO. */
        NONE
    }

    /**
     * Advantages of the trajectories of one group.
     *
     * @param rewards one reward per trajectory; NaN or infinite for one that failed or was not scored
     * @return one advantage per trajectory, 0 for those without a finite reward
     */
    public static double[] advantages(double[] rewards, Normalization normalization) {
        GroupStatistics group = GroupStatistics.of(rewards);
        double[] advantages = new double[rewards.length];
        if (group.isUniform()) {
            return advantages;
        }
        double scale = normalization == Normalization.BY_STD ? 1 / (group.std() + EPSILON) : 1;
        for (int i = 0; i < rewards.length; i++) {
            if (Double.isFinite(rewards[i])) {
                advantages[i] = (rewards[i] - group.mean()) * scale;
            }
        }
        return advantages;
    }

    /**
     * The advantage of a trajectory at each of its tokens.
     *
     * @param mask true for sampled tokens
     * @return {@code advantage} at sampled tokens and 0 at all others, shape of {@code mask}
     */
    public static double[] toTokens(double advantage, boolean[] mask) {
        double[] tokens = new double[mask.length];
        for (int t = 0; t < mask.length; t++) {
            tokens[t] = mask[t] ? advantage : 0;
        }
        return tokens;
    }
}
