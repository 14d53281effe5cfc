package io.bellows.config;

import java.io.Serializable;

/** Section {@code trainer}: length, validation, checkpoints and the place of a run. */
public record TrainerConfig(
        @Setting(value = "30", min = 1, about = "Passes over the training data", onResume = OnResume.FREE)
        int totalEpochs,

        @Setting(value = "null", min = 1, about = "Iterations; null: by total_epochs", onResume = OnResume.FREE)
        Integer totalTrainingSteps,

        @Setting(
                value = "-1",
                min = -1,
                about = "Iterations between checkpoints kept for good; -1: none",
                onResume = OnResume.FREE)
        int saveFreq,

        @Setting(value = "-1", min = -1, about = "Iterations between validations; -1: none", onResume = OnResume.FREE)
        int testFreq,

        @Setting(value = "0", min = 0, about = "Iterations at the beginning in which only the critic is updated")
        int criticWarmup,

        @Setting(value = "true", about = "Validate before the first iteration, when data.val_files has any")
        boolean valBeforeTrain,

        @Setting(
                value = "null",
                about = "The run directory; null: runs/PROJECT_NAME/EXPERIMENT_NAME",
                onResume = OnResume.FREE)
        String defaultLocalDir,

        @Setting(value = "bellows", about = "Project, part of the default run directory", onResume = OnResume.FREE)
        String projectName,

        @Setting(value = "grpo", about = "Experiment, part of the default run directory", onResume = OnResume.FREE)
        String experimentName,

        @Setting(value = "42", about = "Seed of sampling, shuffles and initialisation")
        long seed,

        @Setting(value = "false", about = "Bit-exact through any kill and resume, at some speed")
        boolean deterministic,

        @Setting(
                value = "auto",
                oneOf = {"auto", "disable"},
                about = "auto: go on where the run directory stopped; disable: refuse a run directory that exists",
                onResume = OnResume.FREE)
        String resumeMode,

        @Setting(
                value = "2",
                min = 1,
                about = "Latest checkpoints kept, besides those of save_freq",
                onResume = OnResume.FREE)
        int maxActorCkptToKeep,

        @Setting(value = "1", min = 1, about = "Machines of the update's ranks", onResume = OnResume.FREE)
        int nnodes,

        @Setting(
                value = "null",
                min = 1,
                about = "Ranks of the update on each machine, an executor each; null: one rank per executor there is",
                onResume = OnResume.FREE)
        Integer nGpusPerNode,

        @Setting(
                value = "600",
                min = 1,
                about = "Seconds that a rank of the update waits for another",
                onResume = OnResume.FREE)
        int ncclTimeout,

        @Setting(
                value = "refuse",
                oneOf = {"refuse", "warn"},
                about = "What to do before a run that the memory of its executors cannot hold",
                onResume = OnResume.FREE)
        String memoryPlan)
        implements Serializable {

    /** Ranks of the update, or null for one per executor. */
    public Integer ranks() {
        return nGpusPerNode == null ? null : Integer.valueOf(nnodes * nGpusPerNode);
    }

    /** {@code default_local_dir}, or {@code runs/PROJECT_NAME/EXPERIMENT_NAME} where it is absent. */
    public String runDirectory() {
        return defaultLocalDir == null ? "runs/" + projectName + "/" + experimentName : defaultLocalDir;
    }
}
