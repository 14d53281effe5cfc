package io.bellows.config;

import java.io.Serializable;

/** Section {@code model}: the Hugging Face folder a run starts from. */
public record ModelSection(
        @Setting(value = "null", about = "Hugging Face folder: config.json, safetensors, tokenizer")
        String path,

        @Setting(
                value = "float32",
                oneOf = {"float32", "bfloat16"},
                about = "Type that the models compute in; optimizer and master weights are float32 in any case")
        String dtype,

        @Setting(
                value = "false",
                about = "Keep only the layers' inputs of a training pass and compute the rest again: less memory,"
                        + " a third more computation",
                onResume = OnResume.FREE)
        boolean enableGradientCheckpointing,

        @Setting(
                value = "null",
                about = "sft only: a config.json to initialise at random, stored in the type that it states;"
                        + " model.path then gives the tokenizer")
        String initConfig,

        @Setting(value = "null", about = "Seed of the random initialisation; null: trainer.seed")
        Long initSeed)
        implements Serializable {}
