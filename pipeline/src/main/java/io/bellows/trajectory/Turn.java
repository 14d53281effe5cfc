package io.bellows.trajectory;

import java.io.Serializable;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;

/**
 * One model step and the environment's answer to it.
 *
 * @param responseStart first token of the turn, an index into the response
 * @param responseEnd index after the last token sampled in this turn
 * @param finishReason stop, length or abort
 * @param truncated whether a limit cut the turn short
 * @param reward reward of the step, or null
 * @param modelMillis milliseconds spent generating
 * @param envMillis milliseconds spent in the environment
 */
public record Turn(
        int responseStart,
        int responseEnd,
        String finishReason,
        boolean truncated,
        Double reward,
        long modelMillis,
        long envMillis)
        implements Serializable {

    /** The turn as an element of the column {@code turns}. */
    public Row toRow() {
        return RowFactory.create(responseStart, responseEnd, finishReason, truncated, reward, modelMillis, envMillis);
    }
}
