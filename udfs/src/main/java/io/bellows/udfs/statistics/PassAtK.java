package io.bellows.udfs.statistics;

/**
 * Probability that at least one of k samples solves a problem, estimated without bias from n ≥ k samples of which c are correct:
 * {@code 1 − C(n − c, k) / C(n, k)} (Chen et al., arXiv 2107.03374).
 */
public final class PassAtK {

    private PassAtK() {}

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
                    "Invalid k " + k + " with " + samples + " samples: pass@k needs k from 1 to the number of samples");
        }
        if (correct < 0 || correct > samples) {
            throw new IllegalArgumentException(
                    "Invalid number of correct samples " + correct + ": there are " + samples + " samples");
        }
        // The product form of the binomials, which neither overflows nor cancels.
        double allWrong = 1;
        for (int i = 0; i < k; i++) {
            allWrong *= Math.max(0, samples - correct - i) / (double) (samples - i);
        }
        return 1 - allWrong;
    }

    /**
     * Mean of the estimates of several problems, NaN if there is none.
     *
     * @param samples samples of each problem
     * @param correct correct samples of each problem, same length
     * @throws IllegalArgumentException as {@link #estimate}, and if the lengths differ
     */
    public static double mean(int[] samples, int[] correct, int k) {
        if (samples.length != correct.length) {
            throw new IllegalArgumentException(
                    "Invalid counts: samples of " + samples.length + " problems, correct samples of " + correct.length);
        }
        double sum = 0;
        for (int i = 0; i < samples.length; i++) {
            sum += estimate(samples[i], correct[i], k);
        }
        return sum / samples.length;
    }
}
