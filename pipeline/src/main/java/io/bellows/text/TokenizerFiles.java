package io.bellows.text;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The text files of a Hugging Face folder, as JSON; a file that is not there is a missing node.
 *
 * @param folder where they lie
 * @param tokenizer tokenizer.json
 * @param config tokenizer_config.json
 * @param generation generation_config.json
 */
record TokenizerFiles(Path folder, JsonNode tokenizer, JsonNode config, JsonNode generation) {

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    static TokenizerFiles read(Path folder) throws IOException {
        Path tokenizer = folder.resolve("tokenizer.json");
        if (!Files.isRegularFile(tokenizer)) {
            throw new FileNotFoundException("Cannot find " + tokenizer
                    + ": a model folder needs the fast tokenizer's file; save it with transformers' save_pretrained");
        }
        TokenizerFiles files = readConfig(folder);
        return new TokenizerFiles(folder, json(tokenizer), files.config(), files.generation());
    }

    /** The small files only. */
    static TokenizerFiles readConfig(Path folder) throws IOException {
        return new TokenizerFiles(
                folder,
                MissingNode.getInstance(),
                json(folder.resolve("tokenizer_config.json")),
                json(folder.resolve("generation_config.json")));
    }

    static JsonNode json(Path file) throws IOException {
        if (!Files.isRegularFile(file)) {
            return MissingNode.getInstance();
        }
        try {
            return JSON.readTree(Files.readAllBytes(file));
        } catch (JsonProcessingException e) {
            throw new IOException("Invalid JSON in " + file + ": " + e.getMessage(), e);
        }
    }

    /** The special tokens that have a name of their own, such as {@code eos_token}, by that name. */
    Map<String, String> namedTokens() {
        Map<String, String> tokens = new LinkedHashMap<>();
        config.properties().forEach(entry -> {
            String token = content(entry.getValue());
            if (entry.getKey().endsWith("_token") && token != null) {
                tokens.put(entry.getKey(), token);
            }
        });
        return tokens;
    }

    /** The special tokens without a role of their own. */
    Set<String> additionalSpecialTokens() {
        Set<String> tokens = new LinkedHashSet<>();
        for (String list : List.of("additional_special_tokens", "extra_special_tokens")) {
            for (JsonNode entry : config.path(list)) {
                String token = content(entry);
                if (token != null) {
                    tokens.add(token);
                }
            }
        }
        return tokens;
    }

    /** All tokens that tokenizer_config.json declares special. */
    Set<String> specialTokens() {
        Set<String> tokens = new LinkedHashSet<>(namedTokens().values());
        tokens.addAll(additionalSpecialTokens());
        for (JsonNode entry : config.path("added_tokens_decoder")) {
            String token = content(entry);
            if (token != null && entry.path("special").asBoolean()) {
                tokens.add(token);
            }
        }
        return tokens;
    }

    /** A token is written as its text or as an object with the text under {@code content}. */
    private static String content(JsonNode token) {
        JsonNode text = token.isObject() ? token.path("content") : token;
        return text.isTextual() && !text.textValue().isEmpty() ? text.textValue() : null;
    }
}
