package io.bellows.jobs;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.bellows.text.ChatTemplate;
import io.bellows.text.ChatTokenizer;
import io.bellows.text.Tokenizer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import picocli.CommandLine.Option;

/** The variables of the chat template, on the command line. */
final class TemplateOptions {

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    @Option(
            names = "--chat-template-kwargs",
            defaultValue = "{}",
            paramLabel = "JSON",
            description = {
                "Variables of the chat template, such as '{\"enable_thinking\": false}'.",
                "chat_template names one of several templates, strftime_now sets the date."
            })
    private String variables;

    /**
     * The chat template of a folder with its tokenizer.
     *
     * @param tokenizer is closed with the result
     * @throws UsageException when the variables make no sense
     */
    ChatTokenizer chat(Path folder, Tokenizer tokenizer) throws IOException {
        ChatTemplate template = ChatTemplate.load(folder);
        try {
            return new ChatTokenizer(template, tokenizer, parsed());
        } catch (IllegalArgumentException e) {
            throw new UsageException("Invalid --chat-template-kwargs: " + e.getMessage());
        }
    }

    private Map<String, Object> parsed() {
        try {
            return JSON.readValue(variables, new TypeReference<Map<String, Object>>() {});
        } catch (JsonProcessingException e) {
            throw new UsageException("Invalid --chat-template-kwargs " + variables
                    + ": expected a JSON object such as {\"enable_thinking\": false}");
        }
    }
}
