package io.bellows.config;

import io.bellows.udfs.loss.PolicyLoss;
import io.bellows.udfs.loss.PolicyLosses;
import java.io.Serializable;

/** Section {@code actor}: loss and optimizer of the policy. */
public record ActorConfig(
        @Setting(value = "256", min = 1, about = "Prompts of one optimizer step; divides data.train_batch_size")
        int ppoMiniBatchSize,

        @Setting(value = "1", min = 1, about = "Passes over the batch of an iteration")
        int ppoEpochs,

        @Setting(value = "0.2", min = 0, about = "Half-width of the trust range of the probability ratio")
        double clipRatio,

        @Setting(value = "null", min = 0, max = 1, about = "Lower half-width; null: actor.clip_ratio")
        Double clipRatioLow,

        @Setting(value = "null", min = 0, about = "Upper half-width; null: actor.clip_ratio")
        Double clipRatioHigh,

        @Setting(value = "3.0", about = "Bound of dual clip for negative advantages, above 1")
        double clipRatioC,

        @Setting(value = "1.0", about = "sapo: temperature of the gate for positive advantages, above 0")
        double tauPos,

        @Setting(value = "1.05", about = "sapo: temperature of the gate for other advantages, above 0")
        double tauNeg,

        PolicyLossConfig policyLoss,

        @Setting(
                value = "token-mean",
                oneOf = {
                    "token-mean",
                    "token-sum",
                    "seq-mean-token-sum",
                    "seq-mean-token-mean",
                    "seq-mean-token-sum-norm"
                },
                about = "How the losses of tokens become one number")
        String lossAggMode,

        @Setting(value = "null", about = "Divisor of seq-mean-token-sum-norm; null: data.max_response_length")
        Double lossScaleFactor,

        @Setting(value = "0.0", about = "Weight of the entropy bonus")
        double entropyCoeff,

        @Setting(value = "false", about = "Add the divergence from the reference policy to the loss")
        boolean useKlLoss,

        @Setting(value = "0.001", min = 0, about = "Weight of that divergence")
        double klLossCoef,

        @Setting(
                value = "low_var_kl",
                oneOf = {
                    "kl",
                    "k1",
                    "abs",
                    "mse",
                    "k2",
                    "low_var_kl",
                    "k3",
                    "kl+",
                    "k1+",
                    "abs+",
                    "mse+",
                    "k2+",
                    "low_var_kl+",
                    "k3+"
                },
                about = "Estimator of that divergence")
        String klLossType,

        @Setting(
                value = "true",
                about = "true: micro-batches of balanced work by token budget; false: of a number of rows",
                onResume = OnResume.FREE)
        boolean useDynamicBsz,

        @Setting(
                value = "16384",
                min = 1,
                about = "Tokens of a micro-batch; at least the longest sequence",
                onResume = OnResume.FREE)
        int ppoMaxTokenLenPerGpu,

        @Setting(
                value = "null",
                min = 1,
                about = "Rows of a micro-batch, with actor.use_dynamic_bsz=false",
                onResume = OnResume.FREE)
        Integer ppoMicroBatchSizePerGpu,

        @Setting(value = "1.0", min = 0, about = "Largest gradient norm; longer gradients are scaled down to it")
        double gradClip,

        OptimConfig optim)
        implements Serializable {

    /** {@code clip_ratio_low}, or {@code clip_ratio} where it is absent. */
    public double clipLow() {
        return clipRatioLow == null ? clipRatio : clipRatioLow;
    }

    /** {@code clip_ratio_high}, or {@code clip_ratio} where it is absent. */
    public double clipHigh() {
        return clipRatioHigh == null ? clipRatio : clipRatioHigh;
    }

    /**
     * The policy loss of {@code policy_loss.loss_mode}.
     *
     * @throws IllegalArgumentException naming the key, if one that the loss reads is out of its range
     */
    public PolicyLoss newPolicyLoss() {
        return PolicyLosses.of(
                policyLoss.lossMode(),
                new PolicyLosses.Settings(
                        clipLow(),
                        clipHigh(),
                        clipRatioC,
                        tauPos,
                        tauNeg,
                        policyLoss.clipCovRatio(),
                        policyLoss.clipCovLb(),
                        policyLoss.clipCovUb(),
                        policyLoss.klCovRatio(),
                        policyLoss.ppoKlCoef(),
                        policyLoss.droBeta() == null ? Double.NaN : policyLoss.droBeta()));
    }
}
