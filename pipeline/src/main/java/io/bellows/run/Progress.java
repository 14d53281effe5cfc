package io.bellows.run;

import java.util.Map;

/**
 * Where a run tells a person how it goes. Calls come from the driver, from any of its threads, and never fail: what is
 * shown does not decide what is computed.
 *
 * <pre>{@code
 * try (Progress.Stage stage = progress.start(7, "rollout", 256, "trajectories")) {
 *     stage.advance(32);
 * }
 * }</pre>
 */
public interface Progress {

    /** Shows nothing. */
    Progress NONE = new Progress() {
        @Override
        public void header(Map<String, String> facts) {}

        @Override
        public Stage start(int iteration, String name, long total, String unit) {
            return units -> {};
        }

        @Override
        public void metrics(int iteration, Map<String, Double> metrics) {}

        @Override
        public void message(String line) {}
    };

    /**
     * What the run is, once, before its first stage.
     *
     * @param facts such as model, parameters, data, algorithm, run; shown in their order
     */
    void header(Map<String, String> facts);

    /**
     * A stage begins.
     *
     * @param iteration counted from 1; 0 for what comes before the first
     * @param name such as rollout, score, update
     * @param total units of work, or -1 when not known
     * @param unit plural of what is counted, such as trajectories or tokens
     * @return to be closed when the stage ends, in whatever way
     */
    Stage start(int iteration, String name, long total, String unit);

    /**
     * The metrics of a committed iteration.
     *
     * @param metrics verl's names, such as {@code critic/score/mean}, to finite values or NaN
     */
    void metrics(int iteration, Map<String, Double> metrics);

    /** One line of plain text that a person should read: what was skipped, resumed, or refused. */
    void message(String line);

    /** A stage that runs. */
    @FunctionalInterface
    interface Stage extends AutoCloseable {

        /** {@code units} more are done, zero or more. */
        void advance(long units);

        /** The stage ended. */
        @Override
        default void close() {}
    }
}
