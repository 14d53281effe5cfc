package io.bellows.udfs.loss;

/**
 * Denominators of the global mini-batch: over all its micro-batches and all ranks. With them the losses and gradients of
 * micro-batches simply add up to those of the mini-batch, however it was split.
 *
 * <p>Differs from verl on purpose: verl multiplies by the number of ranks, because its engine averages gradients over ranks; here
 * ranks add. And a trajectory without a sampled token is in no denominator, where verl's nominal batch size counts it.
 *
 * @param tokens sampled tokens
 * @param sequences trajectories with at least one sampled token; one that is split into segments counts once
 * @param lossScaleFactor the constant that {@link LossAggregation#SEQ_MEAN_TOKEN_SUM_NORM} divides by, verl's
 *     {@code actor.loss_scale_factor}, usually the longest response allowed; verl's default, the padded width of the batch,
 *     would make the loss depend on padding
 */
public record BatchTotals(long tokens, long sequences, double lossScaleFactor) {

    /**
     * @throws IllegalArgumentException if a count is negative or the factor is not a positive number
     */
    public BatchTotals {
        if (tokens < 0 || sequences < 0) {
            throw new IllegalArgumentException("Invalid batch totals: " + tokens + " tokens, " + sequences
                    + " sequences; neither can be negative");
        }
        if (!(lossScaleFactor > 0) || Double.isInfinite(lossScaleFactor)) {
            throw new IllegalArgumentException("Invalid loss_scale_factor " + lossScaleFactor
                    + ": it must be a positive number, for example data.max_response_length");
        }
    }

    /** Totals of a batch of whole trajectories, each with all its segments; those of several batches add by {@link #plus}. */
    public static BatchTotals of(Sequences batch, double lossScaleFactor) {
        double sequences = 0;
        for (int i = 0; i < batch.count(); i++) {
            if (batch.sampledTokens(i) > 0) {
                sequences += (double) batch.sampledTokens(i) / batch.trajectoryTokens(i); // shares that add up to 1
            }
        }
        return new BatchTotals(batch.sampledTokens(), Math.round(sequences), lossScaleFactor);
    }

    /**
     * Totals of both batches together.
     *
     * @throws IllegalArgumentException if the loss scale factors differ
     */
    public BatchTotals plus(BatchTotals other) {
        if (lossScaleFactor != other.lossScaleFactor) {
            throw new IllegalArgumentException(
                    "Cannot add totals with loss_scale_factor " + lossScaleFactor + " and " + other.lossScaleFactor);
        }
        return new BatchTotals(tokens + other.tokens, sequences + other.sequences, lossScaleFactor);
    }

    /**
     * The share of a micro-batch in the tokens of its mini-batch. The shares of all micro-batches add up to 1, so a mean of parts of a
     * loss with these weights is one over mini-batches.
     */
    double share(Sequences part) {
        return tokens == 0 ? 0 : (double) part.sampledTokens() / tokens;
    }
}
