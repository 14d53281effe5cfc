package io.bellows.config;

import java.io.Serializable;

/** Section {@code model}: the Hugging Face folder a run starts from. */
public record ModelSection(
        @Setting(value = "null", about = "Hugging Face folder: config.json, safetensors, tokenizer")
        String path,

        @Setting(
                value = "null",
                oneOf = {"float32", "bfloat16"},
                about = "sft only, with model.init_config: type of the weights in written folders; null: float32")
        String dtype,

        @Setting(
                value = "null",
                about = "sft only: a config.json to initialise at random; model.path then gives the tokenizer")
        String initConfig,

        @Setting(value = "null", about = "Seed of the random initialisation; null: trainer.seed")
        Long initSeed)
        implements Serializable {}
