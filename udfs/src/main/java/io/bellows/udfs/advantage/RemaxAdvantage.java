package io.bellows.udfs.advantage;

import java.util.Set;

/**
 * Return less the score of a greedy response to the same prompt (ReMax, Li et al., arXiv 2310.10505). verl's {@code remax}.
 *
 * <p>Differs from verl on purpose: a reward at a token that was not sampled is not lost (see {@link Sample}); a trajectory whose
 * greedy response failed has nothing to be compared with and has advantage 0.
 */
public record RemaxAdvantage() implements SequenceAdvantage {

    @Override
    public Set<Input> inputs() {
        return Set.of(Input.BASELINE);
    }

    @Override
    public Advantages estimate(Sample sample) {
        double[] returns = ReinforcePlusPlusAdvantage.returns(sample, 1);
        double[] advantages = new double[returns.length];
        if (Double.isFinite(sample.baseline())) {
            for (int t : sample.sampledTokens()) {
                advantages[t] = returns[t] - sample.baseline();
            }
        }
        return new Advantages(advantages, returns);
    }
}
