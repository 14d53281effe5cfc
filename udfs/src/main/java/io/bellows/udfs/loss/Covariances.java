package io.bellows.udfs.loss;

import java.util.Comparator;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * Each token's part in the covariance of advantage and log-prob over the sampled tokens of a mini-batch, which drives the change of the
 * entropy (Cui et al., arXiv 2505.22617): {@code (A − mean(A))·(logProb − mean(logProb))}.
 */
final class Covariances {
    private final PolicyBatch batch;
    private final double meanAdvantage;
    private final double meanLogProb;
    private final double[] priorities;

    Covariances(PolicyBatch batch, long[] seeds) {
        this.batch = batch;
        this.meanAdvantage = sampled().mapToDouble(batch::advantage).average().orElse(0);
        this.meanLogProb = sampled().mapToDouble(batch::logProb).average().orElse(0);
        this.priorities = priorities(batch.sequences(), seeds);
    }

    /** The tokens that the policy sampled. */
    IntStream sampled() {
        return IntStream.range(0, batch.sequences().tokens()).filter(batch.sequences()::sampled);
    }

    double of(int token) {
        return (batch.advantage(token) - meanAdvantage) * (batch.logProb(token) - meanLogProb);
    }

    /** The order of a lot drawn for each token. */
    Comparator<Integer> byLot() {
        return Comparator.comparingDouble(token -> priorities[token]);
    }

    /** The first tokens in an order: a share of all sampled ones, rounded down, but at least one where there is a candidate. */
    boolean[] first(IntStream candidates, Comparator<Integer> order, double share) {
        boolean[] selected = new boolean[batch.sequences().tokens()];
        long most = Math.max(1, (long) (share * batch.sequences().sampledTokens()));
        candidates.boxed().sorted(order).limit(most).forEach(token -> selected[token] = true);
        return selected;
    }

    private static double[] priorities(Sequences sequences, long[] seeds) {
        if (seeds.length != sequences.count()) {
            throw new IllegalArgumentException(
                    "Invalid seeds: " + seeds.length + " for " + sequences.count() + " sequences");
        }
        double[] priorities = new double[sequences.tokens()];
        for (int i = 0; i < sequences.count(); i++) {
            SplittableRandom random = new SplittableRandom(seeds[i]);
            for (int t = sequences.start(i); t < sequences.end(i); t++) {
                priorities[t] = random.nextDouble();
            }
        }
        return priorities;
    }
}
