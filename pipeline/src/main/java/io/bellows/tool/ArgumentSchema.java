package io.bellows.tool;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaException;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SchemaValidatorsConfig;
import com.networknt.schema.SpecVersion;
import com.networknt.schema.ValidationMessage;
import com.networknt.schema.regex.RegularExpression;
import com.networknt.schema.resource.DisallowSchemaLoader;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** The JSON schema of a tool's arguments. It loads nothing from elsewhere, and its patterns are matched in linear time. */
final class ArgumentSchema {

    private static final int MOST_PROBLEMS = 5;

    private static final JsonSchemaFactory FACTORY = JsonSchemaFactory.getInstance(
            SpecVersion.VersionFlag.V202012,
            builder -> builder.schemaLoaders(
                    loaders -> loaders.values(List::clear).add(DisallowSchemaLoader.getInstance())));

    private static final SchemaValidatorsConfig CONFIG = SchemaValidatorsConfig.builder()
            .locale(Locale.ROOT)
            .regularExpressionFactory(ArgumentSchema::linear)
            .build();

    private final JsonSchema schema;

    /**
     * A schema.
     *
     * @throws IllegalArgumentException when it is none
     */
    ArgumentSchema(JsonNode parameters) {
        try {
            this.schema = FACTORY.getSchema(parameters, CONFIG);
            schema.initializeValidators();
        } catch (JsonSchemaException | PatternSyntaxException e) {
            throw new IllegalArgumentException("Invalid parameters in tool_schema: " + e.getMessage(), e);
        }
    }

    /** What is wrong with arguments, in words for the model; empty when nothing is. */
    String problems(JsonNode arguments) {
        if (!arguments.isObject()) {
            return "expected an object with the arguments by name";
        }
        return schema.validate(arguments).stream()
                .map(ArgumentSchema::text)
                .sorted()
                .limit(MOST_PROBLEMS)
                .collect(Collectors.joining("; "));
    }

    private static String text(ValidationMessage message) {
        return message.getMessage().replaceFirst("^\\$: ", "").replaceFirst("^\\$\\.", "");
    }

    private static RegularExpression linear(String regex) {
        Pattern pattern = Pattern.compile(regex);
        return value -> pattern.matcher(value).find();
    }
}
