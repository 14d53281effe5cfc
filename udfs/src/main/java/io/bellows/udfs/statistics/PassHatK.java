package io.bellows.udfs.statistics;

/**
 * Probability that all of k samples solve a problem, estimated without bias from n ≥ k samples of which c are correct: {@code C(c, k) / C(n, k)}
 * (pass^k of Yao et al., τ-bench, arXiv 2406.12045).
 */
public final class PassHatK {

    private PassHatK() {}

    /**
     * The estimate for one problem.
     *
     * @param samples number of samples n, at least k
     * @param correct number of correct samples c, from 0 to n
     * @param k at least 1
     * @return in [0, 1]
     * @throws IllegalArgumentException if a number is out of its range
     */
    public static double estimate(int samples, int correct, int k) {
        if (k < 1 || samples < k) {
            throw new IllegalArgumentException(
                    "Invalid k " + k + " with " + samples + " samples: pass^k needs k from 1 to the number of samples");
        }
        if (correct < 0 || correct > samples) {
            throw new IllegalArgumentException(
                    "Invalid number of correct samples " + correct + ": there are " + samples + " samples");
        }
        double allRight = 1;
        for (int i = 0; i < k; i++) {
            allRight *= Math.max(0, correct - i) / (double) (samples - i);
        }
        return allRight;
    }
}
