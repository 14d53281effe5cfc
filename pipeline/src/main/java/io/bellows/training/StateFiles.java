package io.bellows.training;

import io.bellows.model.InvalidModelException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The files of an optimizer state: {@code actor.safetensors} of one rank, or of several ranks {@code actor-00001-of-00004.safetensors}
 * and so on, each with ranges of the parameters. Any number of ranks reads what any other number wrote.
 */
final class StateFiles {

    private static final String SUFFIX = ".safetensors";

    private StateFiles() {}

    /** The file that a rank writes. */
    static Path of(Path file, int rank, int ranks) {
        return ranks == 1
                ? file
                : file.resolveSibling("%s-%05d-of-%05d%s".formatted(stem(file), rank + 1, ranks, SUFFIX));
    }

    /**
     * The files that are there.
     *
     * @throws InvalidModelException if there is none, or not every rank's
     */
    static List<Path> existing(Path file) {
        if (Files.exists(file)) {
            return List.of(file);
        }
        Pattern shard = Pattern.compile(Pattern.quote(stem(file)) + "-\\d{5}-of-(\\d{5})" + Pattern.quote(SUFFIX));
        try (Stream<Path> files = Files.list(file.getParent())) {
            List<Path> found = files.filter(
                            path -> shard.matcher(path.getFileName().toString()).matches())
                    .sorted()
                    .toList();
            if (found.isEmpty() || !found.get(0).equals(of(file, 0, found.size()))) {
                throw new InvalidModelException(
                        "Cannot find the optimizer state " + file + ": there is neither this file nor one of each rank,"
                                + " found " + found + "; restore the checkpoint");
            }
            return found;
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot read the optimizer state " + file + ": " + e.getMessage(), e);
        }
    }

    private static String stem(Path file) {
        String name = file.getFileName().toString();
        return name.substring(0, name.length() - SUFFIX.length());
    }
}
