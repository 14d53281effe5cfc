package io.bellows.trajectory;

import java.util.Locale;

/** The tables of a run, in the order in which an iteration writes them. */
public enum Table {
    /** What was sampled; written by the rollout stage. */
    TRAJECTORIES("trajectories"),
    /** Rewards; written by the score stage. */
    SCORES("scores"),
    /** Log-probabilities and advantages; written by the advantage stage. */
    EXPERIENCE("experience"),
    /** Metrics; written by the update stage, whose manifest commits the iteration. */
    METRICS("update");

    private final String folder;

    Table(String folder) {
        this.folder = folder;
    }

    /** Name of the table and of its view in SQL. */
    public String tableName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Its folder inside an iteration. */
    public String folder() {
        return folder;
    }
}
