package io.bellows.reward;

import io.bellows.udfs.reward.InvalidReferenceException;
import java.io.Serializable;
import java.util.List;

/**
 * A comparison of the response with the reference answers. Unscored without a response or a reference answer; failed where the
 * comparison cannot read a reference answer.
 *
 * @param comparison the comparison
 */
record ReferenceReward(Comparison comparison) implements RewardFunction {

    /** A response and the answers that are right, in; a score out. */
    interface Comparison extends Serializable {
        double score(String response, List<String> references);
    }

    @Override
    public RewardOutcome score(RewardInput input) {
        List<String> references = ReferenceAnswers.of(input);
        if (references.isEmpty()) {
            return RewardOutcome.unscored("no ground truth");
        }
        if (input.response() == null) {
            return RewardOutcome.unscored("no response");
        }
        try {
            return RewardOutcome.of(comparison.score(input.response(), references));
        } catch (InvalidReferenceException e) {
            return RewardOutcome.failed(e.getMessage());
        }
    }
}
