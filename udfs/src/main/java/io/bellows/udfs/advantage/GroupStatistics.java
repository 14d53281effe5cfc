package io.bellows.udfs.advantage;

/**
 * Statistics of the rewards of one group (the samples of one prompt), in double precision and two passes.
 *
 * <p>Differs from verl on purpose: a reward that is not finite is that of a failed or unscored trajectory, which is absent from
 * every statistic; and a group whose rewards are all equal has a standard deviation of exactly 0, decided by
 * {@code max == min}, where float residue would otherwise be blown up by a division.
 *
 * @param valid number of finite rewards
 * @param mean mean of the finite rewards, NaN if there is none
 * @param std unbiased (n − 1) standard deviation, 0 with fewer than two finite rewards
 * @param min smallest finite reward, NaN if there is none
 * @param max largest finite reward, NaN if there is none
 */
public record GroupStatistics(int valid, double mean, double std, double min, double max) {

    /** Statistics of the finite values among {@code rewards}. */
    public static GroupStatistics of(double[] rewards) {
        int valid = 0;
        double sum = 0;
        double min = Double.POSITIVE_INFINITY;
        double max = Double.NEGATIVE_INFINITY;
        for (double reward : rewards) {
            if (Double.isFinite(reward)) {
                valid++;
                sum += reward;
                min = Math.min(min, reward);
                max = Math.max(max, reward);
            }
        }
        if (valid == 0) {
            return new GroupStatistics(0, Double.NaN, 0, Double.NaN, Double.NaN);
        }
        if (min == max) {
            return new GroupStatistics(valid, min, 0, min, max);
        }
        double mean = sum / valid;
        return new GroupStatistics(valid, mean, std(rewards, valid, mean), min, max);
    }

    /** Whether exactly one reward is valid: nothing to compare with, counted as {@code singleton_groups}. */
    public boolean isSingleton() {
        return valid == 1;
    }

    /** Whether all valid rewards are equal, so that the group teaches nothing; true for none and for one. */
    public boolean isUniform() {
        return valid == 0 || min == max;
    }

    /**
     * {@code (reward − baseline) · scale}, exactly 0 in a group whose valid rewards are all equal, which compares nothing.
     *
     * @param rewards those that these statistics are of
     * @return one difference per reward, 0 for those that are not finite
     */
    double[] differences(double[] rewards, double baseline, double scale) {
        double[] differences = new double[rewards.length];
        if (!isUniform()) {
            for (int i = 0; i < rewards.length; i++) {
                differences[i] = Double.isFinite(rewards[i]) ? (rewards[i] - baseline) * scale : 0;
            }
        }
        return differences;
    }

    private static double std(double[] rewards, int valid, double mean) {
        double squares = 0;
        for (double reward : rewards) {
            if (Double.isFinite(reward)) {
                squares += (reward - mean) * (reward - mean);
            }
        }
        return Math.sqrt(squares / (valid - 1));
    }
}
