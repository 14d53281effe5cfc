package io.bellows.run;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import io.bellows.config.BellowsConfig;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * Content of {@code run.json}: what the run was first started with.
 *
 * @param format version of the layout of the run directory
 * @param runId identifies the run in every table
 * @param config the resolved configuration
 * @param configHash {@link io.bellows.config.BellowsConfig#hash()}
 * @param seed the seed every other is derived from
 * @param versions of Bellows, Spark and Java
 * @param createdAt when, ISO-8601
 */
public record RunDescription(
        int format,
        String runId,
        JsonNode config,
        String configHash,
        long seed,
        Map<String, String> versions,
        String createdAt) {

    private static final String FILE = "run.json";

    /** Describes a new run, or makes sure that {@code config} may continue the one that is there. */
    static RunDescription createOrCompare(RunFiles files, BellowsConfig config, Clock clock, String spark) {
        Optional<RunDescription> existing = read(files);
        if (existing.isEmpty()) {
            RunDescription description = describe(files, config, clock, spark);
            description.create(files);
            return description;
        }
        if (config.trainer().resumeMode().equals("disable")) {
            throw new InvalidRunException("Cannot start a run in " + files.root()
                    + ": there is one already; set trainer.resume_mode=auto to continue it, or choose another"
                    + " trainer.default_local_dir");
        }
        List<String> differences =
                BellowsConfig.fromResolved(existing.get().config()).differencesOnResume(config);
        if (!differences.isEmpty()) {
            throw new InvalidRunException("Cannot continue the run " + files.root()
                    + " with another configuration:\n  " + String.join("\n  ", differences)
                    + "\nset these back, or choose another trainer.default_local_dir");
        }
        return existing.get();
    }

    static Optional<RunDescription> read(RunFiles files) {
        return files.text(files.path(FILE))
                .map(text -> parse(text, files.path(FILE).toString()));
    }

    /** Describes a directory for iterations of this run under another configuration. */
    RunDescription with(BellowsConfig other, Clock clock) {
        return new RunDescription(
                format,
                runId,
                other.resolved(),
                other.hash(),
                seed,
                versions,
                clock.instant().toString());
    }

    /** Writes it into a directory that has none. */
    void create(RunFiles files) {
        if (!files.publish(files.path(FILE), Json.pretty(this))) {
            throw new InvalidRunException("Cannot create the run " + files.root()
                    + ": another driver has just done so; start again to continue it");
        }
    }

    private static RunDescription describe(RunFiles files, BellowsConfig config, Clock clock, String spark) {
        String bellows = RunDescription.class.getPackage().getImplementationVersion();
        return new RunDescription(
                Manifest.FORMAT,
                files.root().getName() + "-" + UUID.randomUUID().toString().substring(0, 8),
                config.resolved(),
                config.hash(),
                config.trainer().seed(),
                Map.of(
                        "bellows",
                        bellows == null ? "built from source" : bellows,
                        "spark",
                        spark,
                        "java",
                        System.getProperty("java.version")),
                clock.instant().toString());
    }

    private static RunDescription parse(String json, String path) {
        try {
            RunDescription description = Json.MAPPER.readValue(json, RunDescription.class);
            if (description.format() == Manifest.FORMAT) {
                return description;
            }
            throw new InvalidRunException("Unsupported run " + path + ": format " + description.format()
                    + ", this version reads " + Manifest.FORMAT + "; use the version that wrote it");
        } catch (JsonProcessingException e) {
            throw new InvalidRunException(
                    "Invalid run description " + path + ": not readable (" + e.getOriginalMessage() + "); restore it");
        }
    }
}
