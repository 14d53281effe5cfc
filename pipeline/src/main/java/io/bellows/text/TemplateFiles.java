package io.bellows.text;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/** Finds the chat templates of a Hugging Face folder at the places transformers looks at. */
final class TemplateFiles {

    private static final String SUFFIX = ".jinja";

    /** The text of a template and the file it came from. */
    record Source(Path file, String text) {}

    private TemplateFiles() {}

    /** Templates by name; {@code default} is the only one of most folders. */
    static Map<String, Source> read(Path folder) throws IOException {
        Map<String, Source> templates = new TreeMap<>();
        readConfig(folder.resolve("tokenizer_config.json"), templates);
        readConfig(folder.resolve("chat_template.json"), templates);
        Path single = folder.resolve("chat_template" + SUFFIX);
        if (Files.isRegularFile(single)) {
            templates.put("default", new Source(single, Files.readString(single)));
        }
        Path more = folder.resolve("additional_chat_templates");
        if (Files.isDirectory(more)) {
            try (DirectoryStream<Path> files = Files.newDirectoryStream(more, "*" + SUFFIX)) {
                for (Path file : files) {
                    String name = file.getFileName().toString();
                    templates.put(
                            name.substring(0, name.length() - SUFFIX.length()),
                            new Source(file, Files.readString(file, StandardCharsets.UTF_8)));
                }
            }
        }
        if (templates.isEmpty()) {
            throw new FileNotFoundException("Cannot find a chat template in " + folder
                    + ": add the file chat_template.jinja, or chat_template to tokenizer_config.json");
        }
        return templates;
    }

    private static void readConfig(Path file, Map<String, Source> templates) throws IOException {
        JsonNode template = TokenizerFiles.json(file).path("chat_template");
        if (template.isTextual()) {
            templates.put("default", new Source(file, template.textValue()));
        }
        if (template.isArray()) {
            for (JsonNode named : template) {
                templates.put(
                        named.path("name").asText(),
                        new Source(file, named.path("template").asText()));
            }
        }
    }
}
