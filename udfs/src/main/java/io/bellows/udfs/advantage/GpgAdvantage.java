package io.bellows.udfs.advantage;

import io.bellows.udfs.advantage.GrpoAdvantage.Normalization;
import java.util.List;

/**
 * Score less the mean of its group, times the number of samples of the batch over the number of those whose score is not 0 (GPG,
 * Chu et al., arXiv 2504.02546). verl's {@code gpg}.
 *
 * <p>Differs from verl on purpose: trajectories that failed are absent, also from both numbers; a group with one valid trajectory has
 * advantage 0, not its raw score; equal scores give exactly 0.
 */
public record GpgAdvantage() implements OutcomeAdvantage {

    @Override
    public double[] outcomes(List<Sample> group) {
        return GrpoAdvantage.advantages(OutcomeAdvantage.scores(group), Normalization.NONE);
    }

    @Override
    public BatchNormalization batchNormalization() {
        return BatchNormalization.BY_NONZERO_SCORES;
    }
}
