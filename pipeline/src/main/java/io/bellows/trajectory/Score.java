package io.bellows.trajectory;

import io.bellows.reward.RewardOutcome;
import io.bellows.reward.RewardScore;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The score of a trajectory with the metrics that came with it.
 *
 * @param score reward, components, status and message
 * @param metrics what the reward functions report besides
 */
public record Score(RewardScore score, Map<String, Double> metrics) {

    /** A score without metrics. */
    public static Score of(RewardScore score) {
        return new Score(score, Map.of());
    }

    /** Reads what {@link #toRow()} wrote. */
    public static Score of(Row row) {
        Map<String, Double> components = new LinkedHashMap<>(row.getJavaMap(1));
        RewardOutcome.Status status =
                RewardOutcome.Status.valueOf(row.getString(3).toUpperCase(Locale.ROOT));
        Double reward = row.isNullAt(0) ? null : (Double) row.getDouble(0);
        return new Score(
                new RewardScore(reward, components, status, row.getString(4)), new LinkedHashMap<>(row.getJavaMap(2)));
    }

    /** The score as a value of the column {@code score} of {@link Table#TRAJECTORIES}. */
    public Row toRow() {
        return RowFactory.create(
                score.reward(),
                CollectionConverters.asScala(score.components()),
                CollectionConverters.asScala(metrics),
                score.status().name().toLowerCase(Locale.ROOT),
                score.message());
    }

    /** A row of {@link Table#SCORES}. */
    public Row toRow(TrajectoryKey key, String dataSource) {
        return RowFactory.create(
                key.runId(),
                key.iteration(),
                key.groupId(),
                key.sampleIndex(),
                key.trajectoryId(),
                dataSource,
                score.reward(),
                CollectionConverters.asScala(score.components()),
                CollectionConverters.asScala(metrics),
                score.status().name().toLowerCase(Locale.ROOT),
                score.message());
    }
}
