package io.bellows.udfs.loss;

import io.bellows.udfs.metrics.Metric;
import io.bellows.udfs.metrics.Metrics;

/**
 * The loss of the policy: {@code agg(pg·w) − entropy_coeff·agg(H) + kl_loss_coef·agg(KL)}, where pg is the {@link PolicyLoss},
 * w the importance weight, H the entropy, KL the {@link KlPenalty} and agg the {@link LossAggregation}. Immutable.
 *
 * <p>Metrics besides those of the policy loss: {@code actor/loss}, {@code actor/pg_loss}, {@code actor/entropy} and
 * {@code actor/kl_loss} (aggregated like the loss, means over mini-batches), {@code actor/kl_coef}, and {@code actor/empty_sequences}, the number of
 * sequences without a sampled token, which have no part in the loss.
 *
 * <p>Example:
 *
 * <pre>{@code
 * ActorLoss loss = new ActorLoss(new VanillaPolicyLoss(new ClipRange(0.2, 0.28), 3), LossAggregation.TOKEN_MEAN)
 *         .withKlLoss(KlPenalty.K3, 0.001);
 * LossGradient part = loss.compute(microBatch, totalsOfTheMiniBatch);
 * }</pre>
 */
public final class ActorLoss {
    private final PolicyLoss policyLoss;
    private final LossAggregation aggregation;
    private final double entropyCoeff;
    private final KlPenalty klPenalty;
    private final double klLossCoef;

    /** A loss without entropy bonus and without KL term. */
    public ActorLoss(PolicyLoss policyLoss, LossAggregation aggregation) {
        this(policyLoss, policyLoss.aggregation(aggregation), 0, KlPenalty.K3, 0);
    }

    private ActorLoss(
            PolicyLoss policyLoss,
            LossAggregation aggregation,
            double entropyCoeff,
            KlPenalty klPenalty,
            double klLossCoef) {
        this.policyLoss = policyLoss;
        this.aggregation = aggregation;
        this.entropyCoeff = entropyCoeff;
        this.klPenalty = klPenalty;
        this.klLossCoef = klLossCoef;
    }

    /** The same loss less {@code coefficient} (verl's {@code actor.entropy_coeff}) times the entropy. */
    public ActorLoss withEntropyBonus(double coefficient) {
        return new ActorLoss(policyLoss, aggregation, finite("entropy_coeff", coefficient), klPenalty, klLossCoef);
    }

    /** The same loss plus {@code coefficient} (verl's {@code actor.kl_loss_coef}) times the KL divergence from the reference. */
    public ActorLoss withKlLoss(KlPenalty kind, double coefficient) {
        return new ActorLoss(policyLoss, aggregation, entropyCoeff, kind, finite("kl_loss_coef", coefficient));
    }

    /** Whether any {@link LossGradient#dEntropy} can differ from 0, that is, whether the backward pass must go through the entropy. */
    public boolean usesEntropyGradient() {
        return entropyCoeff != 0;
    }

    /** Whether batches must have reference log-probs. */
    public boolean usesReference() {
        return klLossCoef != 0;
    }

    /**
     * The part of a micro-batch in the loss of its mini-batch, and the derivatives.
     *
     * @param batch a micro-batch
     * @param totals denominators of the global mini-batch
     * @throws IllegalArgumentException if the loss has a term whose values the batch lacks
     */
    public LossGradient compute(PolicyBatch batch, BatchTotals totals) {
        requireInputs(batch);
        Sequences sequences = batch.sequences();
        double[] weights = aggregation.weights(sequences, totals);
        double[] importanceWeights = policyLoss.importanceWeights(batch);
        TokenLosses policy = policyLoss.tokenLosses(batch);
        double[] dLogProb = new double[sequences.tokens()];
        double[] dEntropy = new double[sequences.tokens()];
        double pgLoss = 0;
        double entropy = 0;
        double klLoss = 0;
        for (int t = 0; t < sequences.tokens(); t++) {
            if (!sequences.sampled(t)) {
                continue;
            }
            pgLoss += weights[t] * importanceWeights[t] * policy.values()[t];
            dLogProb[t] = weights[t] * importanceWeights[t] * policy.derivatives()[t];
            if (batch.hasEntropies()) {
                entropy += weights[t] * batch.entropy(t);
                dEntropy[t] = -entropyCoeff * weights[t];
            }
            if (batch.hasRefLogProbs()) {
                klLoss += weights[t] * klPenalty.value(batch.logProb(t), batch.refLogProb(t));
                dLogProb[t] += klLossCoef * weights[t] * klPenalty.derivative(batch.logProb(t), batch.refLogProb(t));
            }
        }
        double loss = pgLoss;
        // A term that is switched off must not turn a non-finite metric into a non-finite loss.
        loss -= entropyCoeff == 0 ? 0 : entropyCoeff * entropy;
        loss += klLossCoef == 0 ? 0 : klLossCoef * klLoss;
        double share = totals.share(sequences);
        Metrics metrics = Metrics.empty()
                .with("actor/loss", Metric.mean(loss, share))
                .with("actor/pg_loss", Metric.mean(pgLoss, share));
        if (batch.hasEntropies()) {
            metrics = metrics.with("actor/entropy", Metric.mean(entropy, share));
        }
        if (batch.hasRefLogProbs()) {
            metrics = metrics.with("actor/kl_loss", Metric.mean(klLoss, share))
                    .with("actor/kl_coef", Metric.max(klLossCoef));
        }
        return new LossGradient(
                loss,
                dLogProb,
                dEntropy,
                metrics.merge(policy.metrics()).with("actor/empty_sequences", Metric.sum(empty(sequences))));
    }

    private void requireInputs(PolicyBatch batch) {
        if (usesEntropyGradient() && !batch.hasEntropies()) {
            throw new IllegalArgumentException(
                    "Cannot compute the loss: entropy_coeff is " + entropyCoeff + " but the batch has no entropies");
        }
        if (usesReference() && !batch.hasRefLogProbs()) {
            throw new IllegalArgumentException("Cannot compute the loss: kl_loss_coef is " + klLossCoef
                    + " but the batch has no reference log-probs");
        }
    }

    private static int empty(Sequences sequences) {
        int empty = 0;
        for (int i = 0; i < sequences.count(); i++) {
            if (sequences.sampledTokens(i) == 0) {
                empty++;
            }
        }
        return empty;
    }

    private static double finite(String key, double value) {
        if (!Double.isFinite(value)) {
            throw new IllegalArgumentException("Invalid " + key + " " + value + ": it must be a finite number");
        }
        return value;
    }
}
