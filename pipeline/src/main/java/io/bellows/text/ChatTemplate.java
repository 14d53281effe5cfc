package io.bellows.text;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** The chat template of a Hugging Face folder. */
public final class ChatTemplate {
    /** Reads the template of a folder. */
    public static ChatTemplate load(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            throw new NoSuchFileException(folder.toString());
        }
        return new ChatTemplate();
    }

    /** Renders a conversation. */
    public String render(
            List<Message> messages,
            JsonNode tools,
            GenerationPrompt addGenerationPrompt,
            Map<String, Object> variables) {
        if (messages.isEmpty()) {
            return "";
        }
        throw new UnsupportedOperationException("Unsupported so far: rendering");
    }
}
