package io.bellows.stage;

import io.bellows.env.State;
import io.bellows.env.TrajectoryStep;
import io.bellows.text.Message;
import io.bellows.trajectory.Tokens;
import io.bellows.trajectory.Trajectory;
import io.bellows.trajectory.TrajectoryKey;
import io.bellows.trajectory.Turn;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.Row;

/**
 * A trajectory as rows, one for each segment. What the environment put in is part of the ids only where the model went on from it: an
 * observation is never last.
 *
 * <p>Prompt and completion of the first segment are the whole conversation; those of a later one are what its prompt held and what came
 * after.
 */
final class TrajectorySegments {

    private final State state;
    private final TrajectoryKey key;
    private final String environment;
    private final int attempt;
    private final long weightsVersion;
    private final Row data;

    private TrajectorySegments(
            State state, TrajectoryKey key, String environment, int attempt, long weightsVersion, Row data) {
        this.state = state;
        this.key = key;
        this.environment = environment;
        this.attempt = attempt;
        this.weightsVersion = weightsVersion;
        this.data = data;
    }

    /**
     * The rows of a trajectory.
     *
     * @param attempt how often it was tried before
     * @param weightsVersion version of the weights for a trajectory in which nothing was sampled
     * @param data the row of the dataset
     */
    static List<Trajectory> of(
            State state, TrajectoryKey key, String environment, int attempt, long weightsVersion, Row data) {
        TrajectorySegments segments = new TrajectorySegments(state, key, environment, attempt, weightsVersion, data);
        TreeMap<Integer, List<TrajectoryStep>> bySegment = new TreeMap<>(Map.of(0, List.of()));
        for (TrajectoryStep step : state.trajectory()) {
            List<TrajectoryStep> steps = new ArrayList<>(bySegment.getOrDefault(step.segmentIndex(), List.of()));
            steps.add(step);
            bySegment.put(step.segmentIndex(), steps);
        }
        return bySegment.entrySet().stream()
                .map(segment -> segments.row(segment.getKey(), segment.getValue(), bySegment.size()))
                .toList();
    }

    private Trajectory row(int index, List<TrajectoryStep> steps, int segments) {
        boolean first = index == 0;
        return new Trajectory(
                key,
                index,
                data.getAs("data_source"),
                environment,
                attempt,
                steps.isEmpty() ? weightsVersion : steps.get(0).weightsVersion(),
                first ? state.shownPrompt() : steps.get(0).promptMessages(),
                first ? state.completion() : completion(steps),
                tokens(steps),
                turns(steps),
                state.outcome(),
                metrics(segments),
                state.timing(),
                state.toJson(),
                data.getAs("ground_truth"),
                data.getAs("extra"),
                first ? state.score() : null);
    }

    private Map<String, Double> metrics(int segments) {
        Map<String, Double> metrics = state.metrics();
        metrics.put("num_turns", (double) (state.trajectory().size() + state.envResponses()));
        metrics.put("num_segments", (double) segments);
        metrics.put("completion_tokens", (double) state.completionTokens());
        return metrics;
    }

    private static List<Message> completion(List<TrajectoryStep> steps) {
        List<Message> messages = new ArrayList<>();
        for (int i = 0; i < steps.size(); i++) {
            if (i > 0) {
                messages.addAll(steps.get(i).promptMessages());
            }
            messages.add(steps.get(i).message());
        }
        return messages;
    }

    private Tokens tokens(List<TrajectoryStep> steps) {
        if (steps.isEmpty()) {
            return Tokens.sampled(state.firstPromptIds(), new int[0], new float[0]);
        }
        int length = 0;
        for (TrajectoryStep step : steps) {
            length += step.contextIds().length + step.completionIds().length;
        }
        int[] prompt = steps.get(0).contextIds();
        int[] ids = new int[length - prompt.length];
        int[] mask = new int[ids.length];
        float[] logProbs = new float[ids.length];
        int at = 0;
        for (TrajectoryStep step : steps) {
            if (at > 0) {
                System.arraycopy(step.contextIds(), 0, ids, at, step.contextIds().length);
                at += step.contextIds().length;
            }
            int sampled = step.completionIds().length;
            System.arraycopy(step.completionIds(), 0, ids, at, sampled);
            int known = step.logProbs().length; // all or none
            System.arraycopy(step.logProbs(), 0, logProbs, at, known);
            Arrays.fill(mask, at, at + known, 1);
            at += sampled;
        }
        return new Tokens(prompt, ids, mask, logProbs);
    }

    private static List<Turn> turns(List<TrajectoryStep> steps) {
        List<Turn> turns = new ArrayList<>();
        int end = 0;
        for (TrajectoryStep step : steps) {
            int start = turns.isEmpty() ? 0 : end + step.contextIds().length;
            end = start + step.completionIds().length;
            turns.add(new Turn(
                    start,
                    end,
                    step.finish().text(),
                    step.isTruncated(),
                    step.reward(),
                    step.modelMillis(),
                    step.envMillis()));
        }
        return turns;
    }
}
