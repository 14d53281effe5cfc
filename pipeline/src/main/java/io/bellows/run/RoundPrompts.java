package io.bellows.run;

import io.bellows.data.Cursor;
import io.bellows.data.EpochOrder;
import io.bellows.data.PromptDataset;
import java.util.function.IntFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/** Where the rounds of a rollout take their prompts from. */
@FunctionalInterface
interface RoundPrompts {

    /**
     * Returns the prompts of a round.
     *
     * @param round counted from 0
     * @param from where the round before stopped
     * @param size how many are wanted
     */
    Prompts next(int round, Cursor from, int size);

    /**
     * The prompts of a round.
     *
     * @param size how many there are
     * @param rows reads them, the first one at the given position of the iteration; called only when they are sampled
     * @param next where the next round goes on
     */
    record Prompts(int size, IntFunction<Dataset<Row>> rows, Cursor next) {}

    /** Those of a dataset in the order of its epochs. */
    static RoundPrompts of(PromptDataset data, EpochOrder order) {
        return (round, from, size) -> {
            EpochOrder.Batch batch = order.batch(from, size);
            return new Prompts(batch.rowIndices().length, position -> data.batch(batch, position), batch.next());
        };
    }
}
