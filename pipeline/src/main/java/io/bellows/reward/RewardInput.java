package io.bellows.reward;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.bellows.text.Message;
import java.util.List;

/**
 * What a reward function may read of one finished trajectory.
 *
 * @param dataSource the dataset the prompt belongs to
 * @param prompt the messages the policy was given
 * @param completion the messages that followed, of the policy, of tools, of the environment
 * @param response the text to judge, as a rule the content of the last assistant message; null when there is none
 * @param responseTokens number of tokens the policy sampled
 * @param groundTruth text view of the reference answer, or null when the dataset has none
 * @param modelScore what the reward model says of the trajectory, or null without one
 * @param extra every other column of the dataset by name, with {@code ground_truth} in its original JSON shape; an
 *     object, not to be changed
 */
public record RewardInput(
        String dataSource,
        List<Message> prompt,
        List<Message> completion,
        String response,
        int responseTokens,
        String groundTruth,
        Double modelScore,
        JsonNode extra) {

    /** Copies the lists. */
    public RewardInput {
        prompt = List.copyOf(prompt);
        completion = List.copyOf(completion);
    }

    /** A response and its reference answer, without anything around them. */
    public static RewardInput of(String response, String groundTruth) {
        return new RewardInput(
                "unknown", List.of(), List.of(), response, 0, groundTruth, null, JsonNodeFactory.instance.objectNode());
    }
}
