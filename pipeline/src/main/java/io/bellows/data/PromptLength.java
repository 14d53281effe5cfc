package io.bellows.data;

import com.fasterxml.jackson.databind.JsonNode;
import io.bellows.text.ChatTokenizer;
import io.bellows.text.GenerationPrompt;
import io.bellows.text.Message;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Measures prompts in tokens. */
public interface PromptLength extends AutoCloseable {

    /**
     * Tokens of the prompt as the model will see it, generation prompt included.
     *
     * @param tools JSON array of function schemas, or null
     * @throws RuntimeException when the chat template refuses the conversation; the row is then a bad row
     */
    int tokens(List<Message> prompt, JsonNode tools);

    /** Frees what {@link Source#open} took. */
    @Override
    default void close() {}

    /** Opens a measure where the rows are; travels to the executors. */
    @FunctionalInterface
    interface Source extends Serializable {

        /** A measure for one task, closed when the task ends. */
        PromptLength open();
    }

    /**
     * Lengths by the chat template and tokenizer of a model folder that every executor can read under the same path.
     *
     * @param variables extra variables of the template; values must be serializable
     */
    static Source ofModel(Path folder, Map<String, Object> variables) {
        String path = folder.toAbsolutePath().normalize().toString(); // executors have another working directory
        Map<String, Object> copy = new HashMap<>(variables);
        return () -> new Tokens(open(path, copy));
    }

    private static ChatTokenizer open(String folder, Map<String, Object> variables) {
        if (!Files.isDirectory(Path.of(folder))) {
            throw new IllegalStateException("Cannot find the model folder " + folder
                    + " here: driver and executors must reach it under the same path; put it on a shared file system");
        }
        try {
            return ChatTokenizer.load(Path.of(folder), variables);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot measure prompts with the tokenizer of " + folder, e);
        }
    }

    /** Lengths by a tokenizer that it owns. */
    record Tokens(ChatTokenizer tokenizer) implements PromptLength {

        @Override
        public int tokens(List<Message> prompt, JsonNode tools) {
            return tokenizer.encode(prompt, tools, GenerationPrompt.ADD).ids().length;
        }

        @Override
        public void close() {
            tokenizer.close();
        }
    }
}
