package io.bellows.config;

import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Reads YAML and overrides into one tree and binds it. */
final class ConfigSource {

    private static final ObjectMapper YAML = YAMLMapper.builder()
            .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
            .build();

    private ConfigSource() {}

    static BellowsConfig load(Path file, List<String> overrides, Purpose purpose) {
        return bind(read(file), overrides, purpose);
    }

    static BellowsConfig change(ObjectNode resolved, List<String> overrides) {
        return bind(resolved, overrides, Purpose.TRAIN);
    }

    private static BellowsConfig bind(ObjectNode tree, List<String> overrides, Purpose purpose) {
        Errors errors = new Errors();
        tree.set("spark", sparkProperties(tree.get("spark")));
        for (String override : overrides) {
            override(tree, override, errors);
        }
        BellowsConfig config = new Binder(YAML, errors).bind(BellowsConfig.class, tree, "");
        new Rules(config, errors).check(purpose);
        throwIfAny(errors);
        return config;
    }

    static BellowsConfig fromResolved(JsonNode resolved) {
        Errors errors = new Errors();
        BellowsConfig config = new Binder(YAML, errors).bind(BellowsConfig.class, resolved, "");
        throwIfAny(errors);
        return config;
    }

    private static void throwIfAny(Errors errors) {
        if (!errors.found().isEmpty()) {
            throw new InvalidConfigException(errors.found());
        }
    }

    private static ObjectNode read(Path file) {
        if (file == null) {
            return YAML.createObjectNode();
        }
        try {
            JsonNode tree = tree(Files.readString(file));
            if (tree == null || tree.isNull() || tree.isMissingNode()) {
                return YAML.createObjectNode();
            }
            if (tree instanceof ObjectNode object) {
                return object;
            }
            throw invalid("Invalid configuration file " + file + ": expected sections with keys and values");
        } catch (JsonProcessingException e) {
            String place =
                    e.getLocation() == null ? "" : ", line " + e.getLocation().getLineNr();
            throw invalid("Invalid YAML in " + file + place + ": " + e.getOriginalMessage());
        } catch (IOException e) {
            throw invalid("Cannot read the configuration file " + file + ": check the path given with -c (" + e + ")");
        }
    }

    /** YAML 1.1 has underscores in numbers: the bounds 0.5_2 would be 0.52. */
    private static JsonNode tree(String yaml) throws IOException {
        try (JsonParser parser = YAML.createParser(yaml)) {
            for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
                if (token.isNumeric() && parser.getText().contains("_")) {
                    throw new JsonParseException(
                            parser,
                            "'" + parser.getText()
                                    + "' is a number with an underscore; write it without, or two bounds in quotes",
                            parser.currentTokenLocation());
                }
            }
        }
        return YAML.readTree(yaml);
    }

    private static InvalidConfigException invalid(String error) {
        return new InvalidConfigException(List.of(error));
    }

    private static void override(ObjectNode tree, String override, Errors errors) {
        int equals = override.indexOf('=');
        String name = equals < 0 ? override : override.substring(0, equals).strip();
        if (equals < 1 || name.startsWith(".") || name.endsWith(".") || name.contains("..")) {
            errors.add("Invalid override '" + override + "': write key=value, such as data.train_batch_size=64");
            return;
        }
        try {
            JsonNode value = tree(override.substring(equals + 1));
            set(tree, name, value == null || value.isMissingNode() ? YAML.nullNode() : value);
        } catch (JsonProcessingException e) {
            errors.add("Invalid override '" + override + "': the value is not YAML (" + e.getOriginalMessage() + ")");
        } catch (IOException e) {
            throw new UncheckedIOException(e); // a text in memory has none
        }
    }

    private static void set(ObjectNode tree, String name, JsonNode value) {
        if (name.startsWith("spark.")) {
            ((ObjectNode) tree.get("spark")).set(fullSparkName(name.substring("spark.".length())), value);
            return;
        }
        ObjectNode node = tree;
        String[] parts = name.split("\\.");
        for (int i = 0; i < parts.length - 1; i++) {
            node = node.get(parts[i]) instanceof ObjectNode child ? child : node.putObject(parts[i]);
        }
        node.set(parts[parts.length - 1], value);
    }

    private static ObjectNode sparkProperties(JsonNode section) {
        ObjectNode flat = YAML.createObjectNode();
        if (section != null) {
            flatten(section, "", flat);
        }
        return flat;
    }

    private static void flatten(JsonNode section, String prefix, ObjectNode flat) {
        section.properties().forEach(entry -> {
            String name = prefix + entry.getKey();
            if (entry.getValue().isObject()) {
                flatten(entry.getValue(), name + ".", flat);
            } else {
                flat.set(fullSparkName(name), entry.getValue());
            }
        });
    }

    private static String fullSparkName(String name) {
        return name.startsWith("spark.") ? name : "spark." + name;
    }
}
