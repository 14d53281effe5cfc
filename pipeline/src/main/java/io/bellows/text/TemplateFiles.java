package io.bellows.text;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Finds the chat templates of a Hugging Face folder at the places transformers looks at. */
final class TemplateFiles {

    private static final String SUFFIX = ".jinja";

    /** The text of a template and the file it came from. */
    record Source(Path file, String text) {}

    private TemplateFiles() {}

    /**
     * Templates by name; {@code default} is the only one of most folders. Template files stand in for all that
     * tokenizer_config.json holds, as in transformers.
     */
    static Map<String, Source> read(Path folder) throws IOException {
        Map<String, Source> templates = readFiles(folder);
        for (String config : List.of("tokenizer_config.json", "chat_template.json")) {
            if (templates.isEmpty()) {
                readConfig(folder.resolve(config), templates);
            }
        }
        if (templates.isEmpty()) {
            throw new FileNotFoundException("Cannot find a chat template in " + folder
                    + ": add the file chat_template.jinja, or chat_template to tokenizer_config.json");
        }
        return templates;
    }

    private static Map<String, Source> readFiles(Path folder) throws IOException {
        Map<String, Source> templates = new TreeMap<>();
        Path single = folder.resolve("chat_template" + SUFFIX);
        if (Files.isRegularFile(single)) {
            templates.put("default", source(single));
        }
        Path more = folder.resolve("additional_chat_templates");
        if (Files.isDirectory(more)) {
            try (DirectoryStream<Path> files = Files.newDirectoryStream(more, "*" + SUFFIX)) {
                for (Path file : files) {
                    String name = file.getFileName().toString();
                    templates.put(name.substring(0, name.length() - SUFFIX.length()), source(file));
                }
            }
        }
        return templates;
    }

    private static Source source(Path file) throws IOException {
        try {
            return new Source(file, Files.readString(file));
        } catch (CharacterCodingException e) {
            throw new IOException("Invalid chat template " + file + ": it is not UTF-8; save it as UTF-8", e);
        }
    }

    private static void readConfig(Path file, Map<String, Source> templates) throws IOException {
        JsonNode template = TokenizerFiles.json(file).path("chat_template");
        if (template.isTextual()) {
            templates.put("default", new Source(file, template.textValue()));
        }
        if (template.isArray()) {
            for (JsonNode named : template) {
                if (!named.path("name").isTextual() || !named.path("template").isTextual()) {
                    throw new IOException("Invalid chat_template of " + file
                            + ": expected a text, or a list of objects with name and template; save it again with"
                            + " transformers");
                }
                templates.put(
                        named.get("name").textValue(),
                        new Source(file, named.get("template").textValue()));
            }
        }
    }
}
