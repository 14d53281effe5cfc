package io.bellows.jobs;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** What a folder given with {@code --model} must hold. */
final class ModelArguments {

    private ModelArguments() {}

    /** Fails unless the folder has a tokenizer. */
    static void requireTokenizer(Path folder) {
        require(folder, List.of("tokenizer.json", "tokenizer_config.json"));
    }

    /** Fails unless the folder has a configuration; weights are looked for when they are read. */
    static void requireModel(Path folder) {
        require(folder, List.of("config.json"));
    }

    private static void require(Path folder, List<String> files) {
        if (!Files.isDirectory(folder)) {
            throw new UsageException(
                    "Cannot find the model folder " + folder + ": give a Hugging Face folder with --model");
        }
        List<String> missing = files.stream()
                .filter(file -> !Files.isRegularFile(folder.resolve(file)))
                .map(file -> "Cannot find " + file + " in " + folder + ": it is part of a Hugging Face model folder")
                .toList();
        if (!missing.isEmpty()) {
            throw new UsageException(missing);
        }
    }
}
