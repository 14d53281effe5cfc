package io.bellows.env;

import io.bellows.text.Message;
import java.util.List;

/**
 * A turn of the model with what it was given since its last one.
 *
 * @param segmentIndex which segment it is in: 0, and one more each time a prompt did not extend the ids before it
 * @param contextIds ids that came before the turn: of the segment's first turn the whole prompt, of others what was put in since
 * @param completionIds what the model sampled
 * @param logProbs log-probability of each of {@code completionIds}
 * @param promptMessages messages that are new in the prompt: of the segment's first turn all
 * @param message the model's turn as a message
 * @param finish why the turn ended
 * @param reward reward of the step, or null
 * @param weightsVersion version of the weights that sampled it
 * @param modelMillis milliseconds spent generating
 * @param envMillis milliseconds of the environment's answer
 */
@SuppressWarnings("ArrayRecordComponent") // carried, never compared
public record TrajectoryStep(
        int segmentIndex,
        int[] contextIds,
        int[] completionIds,
        float[] logProbs,
        List<Message> promptMessages,
        Message message,
        ModelTurn.Finish finish,
        Double reward,
        long weightsVersion,
        long modelMillis,
        long envMillis) {

    /** Whether a limit cut the turn short. */
    public boolean isTruncated() {
        return finish != ModelTurn.Finish.STOP;
    }

    /** 0 for each token that was put in, 1 for each that was sampled: {@code contextIds}, then {@code completionIds}. */
    public int[] mask() {
        int[] mask = new int[contextIds.length + completionIds.length];
        java.util.Arrays.fill(mask, contextIds.length, mask.length, 1);
        return mask;
    }

    TrajectoryStep withReward(double value) {
        return new TrajectoryStep(
                segmentIndex,
                contextIds,
                completionIds,
                logProbs,
                promptMessages,
                message,
                finish,
                value,
                weightsVersion,
                modelMillis,
                envMillis);
    }

    TrajectoryStep withEnvMillis(long millis) {
        return new TrajectoryStep(
                segmentIndex,
                contextIds,
                completionIds,
                logProbs,
                promptMessages,
                message,
                finish,
                reward,
                weightsVersion,
                modelMillis,
                millis);
    }
}
