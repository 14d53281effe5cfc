package io.bellows.udfs.advantage;

/**
 * Discounted return, whitened over the sampled tokens of the batch (REINFORCE++, Hu et al., arXiv 2501.03262). verl's
 * {@code reinforce_plus_plus}.
 *
 * <p>Differs from verl on purpose: the return runs through tokens that were not sampled, which verl before May 2026 takes for the
 * end, so that the turns before a tool's answer earned nothing; a reward at such a token is not lost (see {@link Sample});
 * {@link BatchNormalization#WHITEN} tells how whitening differs.
 *
 * @param gamma discount of the reward of a later token
 */
public record ReinforcePlusPlusAdvantage(double gamma) implements SequenceAdvantage {

    @Override
    public BatchNormalization batchNormalization() {
        return BatchNormalization.WHITEN;
    }

    @Override
    public Advantages estimate(Sample sample) {
        double[] returns = returns(sample, gamma);
        return new Advantages(returns, returns);
    }

    /** Discounted sum of the rewards from each sampled token on, 0 at other tokens. */
    static double[] returns(Sample sample, double gamma) {
        double[] returns = new double[sample.length()];
        double later = 0;
        int[] steps = sample.sampledTokens();
        for (int i = steps.length - 1; i >= 0; i--) {
            later = sample.tokenReward(steps[i]) + gamma * later;
            returns[steps[i]] = later;
        }
        return returns;
    }
}
