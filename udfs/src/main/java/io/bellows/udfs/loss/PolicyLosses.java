package io.bellows.udfs.loss;

import io.bellows.udfs.loss.DppoPolicyLoss.Divergence;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/** The policy losses by their names in a configuration, verl's {@code actor.policy_loss.loss_mode}. */
public final class PolicyLosses {

    /**
     * What losses can be told, under verl's names. Each loss reads and checks its own.
     *
     * @param clipLow {@code clip_ratio_low}
     * @param clipHigh {@code clip_ratio_high}
     * @param clipC {@code clip_ratio_c}
     * @param tauPos {@code tau_pos}
     * @param tauNeg {@code tau_neg}
     * @param clipCovRatio {@code clip_cov_ratio}
     * @param clipCovLb {@code clip_cov_lb}
     * @param clipCovUb {@code clip_cov_ub}
     * @param klCovRatio {@code kl_cov_ratio}
     * @param ppoKlCoef {@code ppo_kl_coef}
     * @param droBeta {@code dro_beta}; NaN where it is not set
     */
    public record Settings(
            double clipLow,
            double clipHigh,
            double clipC,
            double tauPos,
            double tauNeg,
            double clipCovRatio,
            double clipCovLb,
            double clipCovUb,
            double klCovRatio,
            double ppoKlCoef,
            double droBeta) {

        ClipRange clip() {
            return new ClipRange(clipLow, clipHigh);
        }
    }

    private static final Map<String, Function<Settings, PolicyLoss>> KNOWN = known();

    private PolicyLosses() {}

    private static Map<String, Function<Settings, PolicyLoss>> known() {
        Map<String, Function<Settings, PolicyLoss>> known = new LinkedHashMap<>();
        known.put("vanilla", s -> new VanillaPolicyLoss(s.clip(), s.clipC()));
        known.put("gspo", s -> new GspoPolicyLoss(s.clip()));
        known.put("sapo", s -> new SapoPolicyLoss(s.tauPos(), s.tauNeg()));
        known.put("gpg", s -> new GpgPolicyLoss());
        known.put("clip_cov", s -> new ClipCovPolicyLoss(s.clip(), s.clipCovRatio(), s.clipCovLb(), s.clipCovUb()));
        known.put("kl_cov", s -> new KlCovPolicyLoss(s.klCovRatio(), s.ppoKlCoef()));
        known.put("geo_mean", s -> new GeoMeanPolicyLoss(s.clip()));
        known.put("cispo", s -> new CispoPolicyLoss(s.clip()));
        known.put("dppo_tv", s -> dppo(Divergence.TOTAL_VARIATION, s));
        known.put("dppo_kl", s -> dppo(Divergence.KL, s));
        known.put("dro", s -> new DroPolicyLoss(s.droBeta()));
        return known;
    }

    private static PolicyLoss dppo(Divergence divergence, Settings settings) {
        return new DppoPolicyLoss(divergence, settings.clipLow(), settings.clipHigh(), settings.clipC());
    }

    /** The known names, in the order of this class. */
    public static Set<String> names() {
        return KNOWN.keySet();
    }

    /**
     * The loss of a name.
     *
     * @throws IllegalArgumentException if there is none, naming the known ones; or if a setting that the loss reads is out of its range
     */
    public static PolicyLoss of(String lossMode, Settings settings) {
        Function<Settings, PolicyLoss> loss = KNOWN.get(lossMode);
        if (loss == null) {
            throw new IllegalArgumentException(
                    "Invalid loss_mode '" + lossMode + "': use one of " + String.join(", ", names()));
        }
        return loss.apply(settings);
    }
}
