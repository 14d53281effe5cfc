package io.bellows.data;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Set;

/** Recognises the layout of a file from its columns and first rows, or says what it saw. */
final class LayoutDetection {

    private final DatasetOptions options;

    LayoutDetection(DatasetOptions options) {
        this.options = options;
    }

    /**
     * The layout of a file.
     *
     * @param file path for messages
     * @param columns every column seen
     * @param sample the first rows that can be read
     * @throws InvalidDatasetException when no layout fits or a configured column is not there
     */
    Layout detect(String file, Set<String> columns, List<ObjectNode> sample) {
        requireColumn(file, columns, "data.prompt_key", options.promptKey());
        requireColumn(file, columns, "data.ground_truth_key", options.groundTruthKey());
        requireColumn(file, columns, "data.response_key", options.completionKey());
        refusePreferences(file, columns, sample);
        Layout layout = options.promptKey() == null ? known(file, columns, sample) : named(columns, sample);
        if (options.groundTruthKey() != null) {
            layout = layout.withTruth(options.groundTruthKey());
        }
        return options.completionKey() == null ? layout : layout.withCompletion(options.completionKey());
    }

    private static Layout known(String file, Set<String> columns, List<ObjectNode> sample) {
        return Layout.KNOWN.stream()
                .filter(layout -> fits(layout, columns, sample))
                .findFirst()
                .orElseThrow(() -> new InvalidDatasetException("Unsupported columns " + columns + " in " + file
                        + ": no known dataset layout has them (looked for a column prompt, question, input, messages or"
                        + " problem); name the prompt column with data.prompt_key"));
    }

    private Layout named(Set<String> columns, List<ObjectNode> sample) {
        return Layout.KNOWN.stream()
                .filter(layout -> layout.prompt().equals(options.promptKey()) && fits(layout, columns, sample))
                .findFirst()
                .orElse(Layout.named(options.promptKey()));
    }

    private static boolean fits(Layout layout, Set<String> columns, List<ObjectNode> sample) {
        return layout.fits(columns) && (layout.answer() == Layout.Answer.AS_IS || marked(layout, sample));
    }

    /** Worked solutions are told from plain answers by the mark, in any row: a row may have lost it. */
    private static boolean marked(Layout layout, List<ObjectNode> sample) {
        return sample.stream()
                .map(row -> row.path(layout.groundTruth().get(0)).asText(""))
                .anyMatch(answer -> answer.contains(PromptReader.HASH));
    }

    private static void refusePreferences(String file, Set<String> columns, List<ObjectNode> sample) {
        boolean pairs = columns.contains("chosen") && columns.contains("rejected");
        boolean labels = columns.contains("completion")
                && sample.stream().map(row -> row.path("label")).anyMatch(JsonNode::isBoolean);
        if (pairs || labels) {
            throw new InvalidDatasetException("Unsupported preference dataset " + file + " with columns " + columns
                    + ": expected prompts, or prompts with the one completion to learn");
        }
    }

    private static void requireColumn(String file, Set<String> columns, String key, String column) {
        String top = column == null || columns.contains(column) ? column : column.split("\\.", 2)[0];
        if (top != null && !columns.contains(top)) {
            throw new InvalidDatasetException(
                    "Invalid " + key + "=" + column + ": " + file + " has no such column, it has " + columns);
        }
    }
}
