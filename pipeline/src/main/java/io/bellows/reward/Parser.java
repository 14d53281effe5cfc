package io.bellows.reward;

import io.bellows.text.Message;
import java.util.List;
import java.util.Optional;

/**
 * Finds in what a model said the part that answers. Rewards that take an argument called {@code parser} are given that of their rubric. Empty is not
 * the same as an empty text: the part is not there.
 */
@FunctionalInterface
public interface Parser {

    /** The answering part of a text, trimmed; empty where there is none. */
    Optional<String> parse(String text);

    /** The answer of a conversation: that of the last message of the model which has one. */
    default Optional<String> parseAnswer(List<Message> completion) {
        for (int i = completion.size() - 1; i >= 0; i--) {
            Message message = completion.get(i);
            if (message.role().equals("assistant") && message.content() != null) {
                Optional<String> answer = parse(message.content());
                if (answer.isPresent()) {
                    return answer;
                }
            }
        }
        return Optional.empty();
    }

    /** The whole text. */
    static Parser whole() {
        return text -> Optional.of(text.strip());
    }

    /** This parser on what another one finds. */
    default Parser after(Parser first) {
        return text -> first.parse(text).flatMap(this::parse);
    }
}
