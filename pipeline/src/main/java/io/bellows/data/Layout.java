package io.bellows.data;

import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * The shape of a dataset: which column is what.
 *
 * @param name what people call it
 * @param required columns a file of this layout has
 * @param prompt column of the prompt: a text or a list of messages
 * @param completion column of the completion, or null
 * @param groundTruth places of the reference answer, the first one present counts; dots lead into objects
 * @param answer how the reference answer stands there
 * @param dataSource column that names the dataset, or null
 * @param defaultDataSource name of the dataset when no column has it; null for the file's name
 */
record Layout(
        String name,
        List<String> required,
        String prompt,
        String completion,
        List<String> groundTruth,
        Answer answer,
        String dataSource,
        String defaultDataSource)
        implements Serializable {

    /** How a reference answer stands in its column. */
    enum Answer {
        AS_IS,
        /** Behind the mark {@code ####} of a worked solution; a row without it is a bad row. */
        AFTER_HASH
    }

    private static final List<String> ANSWERS =
            List.of("ground_truth", "answer", "solution", "expected_answer", "final_answer", "label");

    /** Most specific first: the first whose columns are all there is taken. */
    static final List<Layout> KNOWN = List.of(
            of("verl", "prompt", "prompt", "reward_model").withTruth("reward_model.ground_truth"),
            of("SkyRL", "prompt", "prompt", "reward_spec").withTruth("reward_spec.ground_truth"),
            of("TRL prompt-completion", "prompt", "prompt", "completion").withCompletion("completion"),
            of("slime", "prompt", "prompt", "label").withTruth("label"),
            of("TRL prompt", "prompt", "prompt"),
            new Layout(
                    "GSM8K",
                    List.of("question", "answer"),
                    "question",
                    "answer",
                    List.of("answer"),
                    Answer.AFTER_HASH,
                    null,
                    "openai/gsm8k"),
            of("verifiers", "question", "question").withTruth("answer").withSource("task"),
            of("OpenRLHF", "input", "input").withTruth("label").withSource("datasource"),
            of("RLVR", "messages", "messages", "ground_truth")
                    .withTruth("ground_truth")
                    .withSource("dataset"),
            of("messages", "messages", "messages"),
            of("problem and answer", "problem", "problem"));

    /** The layout of a file whose prompt column the configuration names. */
    static Layout named(String promptColumn) {
        return of("prompt column " + promptColumn, promptColumn, promptColumn);
    }

    boolean fits(Set<String> columns) {
        return columns.containsAll(required);
    }

    Layout withTruth(String... places) {
        return new Layout(
                name, required, prompt, completion, Arrays.asList(places), Answer.AS_IS, dataSource, defaultDataSource);
    }

    Layout withCompletion(String column) {
        return new Layout(name, required, prompt, column, groundTruth, answer, dataSource, defaultDataSource);
    }

    private Layout withSource(String column) {
        return new Layout(name, required, prompt, completion, groundTruth, answer, column, defaultDataSource);
    }

    private static Layout of(String name, String prompt, String... required) {
        return new Layout(name, List.of(required), prompt, null, ANSWERS, Answer.AS_IS, null, null);
    }
}
