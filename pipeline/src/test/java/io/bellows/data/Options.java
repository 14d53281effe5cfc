package io.bellows.data;

import io.bellows.data.DatasetOptions.BadRows;
import io.bellows.data.DatasetOptions.Completions;
import io.bellows.data.DatasetOptions.Overlong;

/** Dataset options with one thing changed. */
final class Options {

    private Options() {}

    static DatasetOptions with(DatasetOptions o, BadRows badRows) {
        return new DatasetOptions(
                o.promptKey(),
                o.completionKey(),
                o.groundTruthKey(),
                o.dataSourceKey(),
                o.systemPrompt(),
                o.promptSuffix(),
                o.completions(),
                o.maxPromptLength(),
                o.overlong(),
                badRows,
                o.maxSamples());
    }

    static DatasetOptions with(DatasetOptions o, Completions completions) {
        return new DatasetOptions(
                o.promptKey(),
                o.completionKey(),
                o.groundTruthKey(),
                o.dataSourceKey(),
                o.systemPrompt(),
                o.promptSuffix(),
                completions,
                o.maxPromptLength(),
                o.overlong(),
                o.badRows(),
                o.maxSamples());
    }

    static DatasetOptions with(DatasetOptions o, int maxPromptLength, Overlong overlong) {
        return new DatasetOptions(
                o.promptKey(),
                o.completionKey(),
                o.groundTruthKey(),
                o.dataSourceKey(),
                o.systemPrompt(),
                o.promptSuffix(),
                o.completions(),
                maxPromptLength,
                overlong,
                o.badRows(),
                o.maxSamples());
    }
}
