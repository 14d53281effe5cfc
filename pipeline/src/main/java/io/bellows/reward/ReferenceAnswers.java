package io.bellows.reward;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;

/** The reference answers a dataset accepts for a row. */
final class ReferenceAnswers {

    private ReferenceAnswers() {}

    /**
     * Every accepted answer: the elements of a list, or of {@code {"target": [...]}} as question-answering sets have it,
     * else the one text; empty when the row has none.
     */
    static List<String> of(RewardInput input) {
        JsonNode truth = input.extra().path("ground_truth");
        JsonNode list = truth.path("target").isArray() ? truth.get("target") : truth;
        List<String> answers = new ArrayList<>();
        if (list.isArray()) {
            list.forEach(answer -> answers.add(answer.isTextual() ? answer.textValue() : answer.toString()));
        } else if (input.groundTruth() != null) {
            answers.add(input.groundTruth());
        }
        return answers;
    }
}
