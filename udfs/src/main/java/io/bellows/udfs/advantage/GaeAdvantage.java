package io.bellows.udfs.advantage;

import java.util.Set;

/**
 * Generalized advantage estimation with a critic (Schulman et al., arXiv 1506.02438), over the sampled tokens:
 * {@code A(t) = δ(t) + γλ·A(t+1)} with {@code δ(t) = r(t) + γ·V(t+1) − V(t)}; returns are {@code A + V}. Advantages are then
 * whitened over the batch. verl's {@code gae}.
 *
 * <p>Tokens that were not sampled are no steps: they neither discount nor decay, as in verl. Differs from verl on purpose: a reward
 * at such a token is not lost (see {@link Sample}); {@link BatchNormalization#WHITEN} tells how whitening differs.
 *
 * @param gamma discount of the reward of a later token
 * @param lambda weight of longer look-ahead, from 0 (one step) to 1 (the whole trajectory)
 */
public record GaeAdvantage(double gamma, double lambda) implements SequenceAdvantage {

    @Override
    public Set<Input> inputs() {
        return Set.of(Input.VALUES);
    }

    @Override
    public BatchNormalization batchNormalization() {
        return BatchNormalization.WHITEN;
    }

    @Override
    public Advantages estimate(Sample sample) {
        double[] values = sample.values();
        double[] advantages = new double[sample.length()];
        double[] returns = new double[sample.length()];
        double nextValue = 0;
        double nextAdvantage = 0;
        int[] steps = sample.sampledTokens();
        for (int i = steps.length - 1; i >= 0; i--) {
            int t = steps[i];
            double delta = sample.tokenReward(t) + gamma * nextValue - values[t];
            advantages[t] = delta + gamma * lambda * nextAdvantage;
            returns[t] = advantages[t] + values[t];
            nextAdvantage = advantages[t];
            nextValue = values[t];
        }
        return new Advantages(advantages, returns);
    }
}
