package io.bellows.trajectory;

import io.bellows.text.Message;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import scala.jdk.javaapi.CollectionConverters;

/**
 * One segment of a trajectory, a row of {@link Table#TRAJECTORIES}. A trajectory whose prompts always extend the ids before
 * them is one segment.
 *
 * @param key which trajectory
 * @param segmentIndex which segment of it, from 0
 * @param dataSource which dataset the prompt is from
 * @param env name of the environment
 * @param attempt attempt of the trajectory, from 0
 * @param weightsVersion version of the weights that sampled it: the iteration that wrote them
 * @param prompt messages the policy was given
 * @param completion messages that followed
 * @param tokens ids, mask and log-probabilities
 * @param turns the turns of this segment
 * @param outcome how it ended
 * @param metrics metrics of the environment
 * @param timing seconds by phase
 * @param state what rewards may read, a JSON object, or null
 * @param groundTruth the reference answer as text, or null
 * @param extra all other columns of the dataset, a JSON object
 * @param score filled when it was scored while others still generated, or null
 */
public record Trajectory(
        TrajectoryKey key,
        int segmentIndex,
        String dataSource,
        String env,
        int attempt,
        long weightsVersion,
        List<Message> prompt,
        List<Message> completion,
        Tokens tokens,
        List<Turn> turns,
        Outcome outcome,
        Map<String, Double> metrics,
        Map<String, Double> timing,
        String state,
        String groundTruth,
        String extra,
        Score score) {

    /** The segment as a row, its values in the order of the schema. */
    public Row toRow() {
        return RowFactory.create(
                key.runId(),
                key.iteration(),
                key.groupId(),
                key.promptId(),
                key.sampleIndex(),
                key.trajectoryId(),
                segmentIndex,
                dataSource,
                env,
                attempt,
                weightsVersion,
                rows(prompt),
                rows(completion),
                tokens.promptIds(),
                tokens.responseIds(),
                tokens.responseMask(),
                tokens.rolloutLogProbs(),
                turns.stream().map(Turn::toRow).toArray(Row[]::new),
                outcome.status().text(),
                outcome.stopCondition(),
                outcome.errorKind(),
                outcome.errorMessage(),
                CollectionConverters.asScala(metrics),
                CollectionConverters.asScala(timing),
                state,
                groundTruth,
                extra,
                score == null ? null : score.toRow());
    }

    private static Row[] rows(List<Message> messages) {
        return messages.stream()
                .map(message -> RowFactory.create(
                        message.role(), message.content(), message.toolCalls(), message.toolCallId(), message.name()))
                .toArray(Row[]::new);
    }
}
