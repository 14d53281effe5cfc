package io.bellows.jobs;

import java.nio.file.Path;

/** The project's own folder, with {@code conf} and {@code data-samples}. The launcher knows where it is. */
final class Home {

    private Home() {}

    /** A file of the project. Without the launcher: of {@code BELLOWS_HOME}, or of the working directory. */
    static Path resolve(Path relative) {
        String home = System.getProperty("bellows.home", System.getenv().getOrDefault("BELLOWS_HOME", ""));
        return Path.of(home).resolve(relative);
    }

    /** As {@link #resolve(Path)}. */
    static Path resolve(String relative) {
        return resolve(Path.of(relative));
    }
}
