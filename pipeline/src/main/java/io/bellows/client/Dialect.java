package io.bellows.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.env.ModelRequest;
import io.bellows.env.ModelTurn;

/** What a {@link Protocol} sends, and how it reads the answer. */
interface Dialect {

    /** The path behind the server's address. */
    String path();

    /** The fields that say what is asked; those that all requests share are added to them. */
    ObjectNode question(ModelRequest request);

    /**
     * Reads a turn.
     *
     * @param choice what the server answered; requests ask for one only
     * @throws InvalidAnswerException if that is none
     */
    ModelTurn turn(JsonNode choice, Attempt attempt) throws InvalidAnswerException;

    /**
     * The attempt that was answered.
     *
     * @param request what was asked
     * @param retries attempts before it
     * @param millis time since the first one
     */
    record Attempt(ModelRequest request, int retries, long millis) {}

    /** An answer that is none; the message says why. */
    final class InvalidAnswerException extends Exception {

        private static final long serialVersionUID = 1L;

        InvalidAnswerException(String message) {
            super(message);
        }
    }

    /** Why a turn ended. */
    static ModelTurn.Finish finish(JsonNode choice) {
        return choice.path("finish_reason").asText().equals("length") ? ModelTurn.Finish.LENGTH : ModelTurn.Finish.STOP;
    }
}
