package io.bellows.data;

import io.bellows.config.DataConfig;
import java.io.Serializable;

/**
 * How dataset files are read.
 *
 * @param promptKey column of the prompt; null to find it by the known layouts
 * @param completionKey column of the completion; null to find it by the known layouts
 * @param groundTruthKey column of the reference answer, dots lead into objects ({@code reward_model.ground_truth}); null
 *     to find it by the known layouts
 * @param dataSourceKey column that names the dataset of a row
 * @param systemPrompt system message put before prompts that have none; null for none
 * @param promptSuffix text added to the end of the last message of every prompt, as verl's preprocessing of GSM8K adds
 *     {@code  Let's think step by step and output the final answer after "####".} (with the space); null for none
 * @param completions whether a row needs a completion
 * @param maxPromptLength longest prompt, tokens
 * @param overlong what a longer prompt does
 * @param badRows what a row that cannot be read does
 * @param maxSamples rows taken from the front; -1 for all
 */
public record DatasetOptions(
        String promptKey,
        String completionKey,
        String groundTruthKey,
        String dataSourceKey,
        String systemPrompt,
        String promptSuffix,
        Completions completions,
        int maxPromptLength,
        Overlong overlong,
        BadRows badRows,
        long maxSamples)
        implements Serializable {

    /** Whether rows need a completion to learn from. */
    public enum Completions {
        /** Prompts are enough. */
        OPTIONAL,
        /** A row without one is a bad row (supervised fine-tuning). */
        REQUIRED
    }

    /** What a prompt that is too long does. */
    public enum Overlong {
        /** It stops the load. */
        REFUSE,
        /** It is left out and counted. */
        FILTER
    }

    /** What a bad row does. */
    public enum BadRows {
        /** The load stops with a report of all of them. */
        FAIL,
        /** It is left out, counted and reported. */
        SKIP
    }

    /** Known layouts, nothing added, no limit on prompts, and no bad row. */
    public static DatasetOptions defaults() {
        return new DatasetOptions(
                null,
                null,
                null,
                "data_source",
                null,
                null,
                Completions.OPTIONAL,
                Integer.MAX_VALUE,
                Overlong.REFUSE,
                BadRows.FAIL,
                -1);
    }

    /** The options of section {@code data} for the files of {@code data.train_files}; {@link #withMaxSamples} for others. */
    public static DatasetOptions from(DataConfig data, Completions completions) {
        return new DatasetOptions(
                unless("prompt", data.promptKey()),
                unless("completion", data.responseKey()),
                data.groundTruthKey(),
                data.rewardFnKey(),
                data.systemPrompt(),
                data.promptSuffix(),
                completions,
                data.maxPromptLength(),
                data.filterOverlongPrompts() ? Overlong.FILTER : Overlong.REFUSE,
                data.onBadRow().equals("skip") ? BadRows.SKIP : BadRows.FAIL,
                data.trainMaxSamples());
    }

    /** The same with another number of rows; -1 for all. */
    public DatasetOptions withMaxSamples(long rows) {
        return new DatasetOptions(
                promptKey,
                completionKey,
                groundTruthKey,
                dataSourceKey,
                systemPrompt,
                promptSuffix,
                completions,
                maxPromptLength,
                overlong,
                badRows,
                rows);
    }

    // The configuration's defaults are the common names, and mean "find it".
    private static String unless(String common, String key) {
        return common.equals(key) ? null : key;
    }
}
