package io.bellows.env;

import com.fasterxml.jackson.databind.JsonNode;
import io.bellows.text.Message;
import java.util.List;

/**
 * What a model is asked for: one turn of one trajectory.
 *
 * @param trajectory which trajectory
 * @param turn which of its turns, from 0
 * @param messages the conversation so far
 * @param tools a JSON array of function schemas, or null
 * @param promptIds the same as token ids: those of earlier turns as they were sampled
 * @param maxTokens most tokens of the turn, at least 1
 */
@SuppressWarnings("ArrayRecordComponent") // carried, never compared
public record ModelRequest(
        TrajectoryId trajectory, int turn, List<Message> messages, JsonNode tools, int[] promptIds, int maxTokens) {

    /**
     * Names a trajectory to a model.
     *
     * @param position place of the prompt in the batch
     * @param sampleIndex which sample of the prompt
     */
    public record TrajectoryId(long position, int sampleIndex) {}
}
