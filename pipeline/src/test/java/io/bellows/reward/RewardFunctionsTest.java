package io.bellows.reward;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.config.RewardConfig;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The built-in functions on a trajectory; what they say about texts is tested where they are. */
class RewardFunctionsTest {

    private static RewardScore score(String name, Map<String, Object> options, RewardInput input) {
        return RewardRegistry.standard()
                .create(List.of(new RewardConfig.Function(name, 1, options)))
                .score(input);
    }

    private static RewardInput input(String response, int tokens, ObjectNode extra) {
        return new RewardInput("d", List.of(), List.of(), response, tokens, null, null, extra);
    }

    @Test
    void aTrajectoryWithoutResponseOrReferenceIsUnscored() {
        for (String name : List.of("number_match", "exact_match")) {
            assertThat(score(name, Map.of(), RewardInput.of("#### 18", "18")).reward())
                    .isEqualTo(1.0);
            assertThat(score(name, Map.of(), RewardInput.of(null, "18")).status())
                    .isEqualTo(RewardOutcome.Status.UNSCORED);
            assertThat(score(name, Map.of(), RewardInput.of("#### 18", null)).status())
                    .isEqualTo(RewardOutcome.Status.UNSCORED);
        }
        assertThat(score("format_match", Map.of("pattern", "."), RewardInput.of(null, null))
                        .status())
                .isEqualTo(RewardOutcome.Status.UNSCORED);
    }

    @Test
    void aReferenceThatIsNoNumberIsAFaultOfTheDataAndNoWrongAnswer() {
        RewardScore score = score("number_match", Map.of(), RewardInput.of("#### 18", "north"));
        assertThat(score.status()).isEqualTo(RewardOutcome.Status.FAILED);
        assertThat(score.message()).contains("Invalid ground truth 'north'").contains("exact_match");
    }

    @Test
    void anyAnswerOfAListIsRight() {
        ObjectNode extra = JsonNodeFactory.instance.objectNode();
        extra.putObject("ground_truth").putArray("target").add("4").add(5);
        assertThat(score("number_match", Map.of(), input("#### 5", 3, extra)).reward())
                .isEqualTo(1.0);
    }

    @Test
    void lengthIsThatOfTheSampledTokens() {
        Map<String, Object> options = Map.of("max_length", 100, "buffer", 20);
        assertThat(score("length", options, input("text", 85, JsonNodeFactory.instance.objectNode()))
                        .reward())
                .isEqualTo(-0.25);
    }
}
