package io.bellows.config;

import java.io.Serializable;

/** Section {@code sft}: what only supervised fine-tuning reads; batch, optimizer and length are those of the other sections. */
public record SftConfig(
        @Setting(
                value = "null",
                min = 1,
                about = "Tokens of a micro-batch, accumulated to data.train_batch_size rows; null: actor's",
                onResume = OnResume.FREE)
        Integer maxTokenLenPerGpu)
        implements Serializable {}
