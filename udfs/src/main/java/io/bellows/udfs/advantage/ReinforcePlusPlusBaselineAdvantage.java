package io.bellows.udfs.advantage;

import io.bellows.udfs.advantage.GrpoAdvantage.Normalization;
import java.util.List;

/**
 * Score less the mean of its group, whitened over the sampled tokens of the batch (REINFORCE++ with baseline, Hu et al., arXiv
 * 2501.03262). verl's {@code reinforce_plus_plus_baseline}.
 *
 * <p>Differs from verl on purpose: trajectories that failed are absent; a group with one valid trajectory has difference 0, not its
 * raw score; {@link BatchNormalization#WHITEN} tells how whitening differs.
 */
public record ReinforcePlusPlusBaselineAdvantage() implements OutcomeAdvantage {

    @Override
    public double[] outcomes(List<Sample> group) {
        return GrpoAdvantage.advantages(OutcomeAdvantage.scores(group), Normalization.NONE);
    }

    @Override
    public BatchNormalization batchNormalization() {
        return BatchNormalization.WHITEN;
    }
}
