package io.bellows.training;

import io.bellows.training.collective.Collective;
import io.bellows.udfs.loss.BatchTotals;
import io.bellows.udfs.loss.Sequences;
import io.bellows.udfs.metrics.Metrics;
import java.io.Serializable;
import java.util.List;

/** What an update minimises. */
public interface Objective extends Serializable {

    /**
     * Returns the section of the configuration that the update reads, which is also the prefix of its metrics.
     *
     * @return {@code actor} or {@code critic}
     */
    String section();

    /**
     * Returns the share of some sequences in the denominators of their mini-batch.
     *
     * @param sequences any part of a mini-batch
     * @return its totals, to be added to those of the other parts
     */
    BatchTotals totals(Sequences sequences);

    /**
     * Looks at a whole mini-batch before it is split, for what depends on all of its rows.
     *
     * @param model as it is before the step
     * @param batching how the model's passes are cut
     * @param batch the rows of the mini-batch that are this rank's
     * @param step optimizer steps taken so far
     * @param ranks who has the other rows
     * @return this rank's rows to learn from
     */
    default Prepared prepare(
            TrainedModel model, MicroBatching batching, List<TrainingSequence> batch, long step, Collective ranks) {
        return new Prepared(batch, Metrics.empty());
    }

    /**
     * A mini-batch that is ready to be split.
     *
     * @param rows this rank's, to learn from
     * @param metrics of the whole mini-batch, told by one rank only
     */
    record Prepared(List<TrainingSequence> rows, Metrics metrics) {}

    /**
     * Takes a micro-batch forward and back.
     *
     * @param model whose gradients to add to
     * @param batch the rows, at least one response token
     * @param totals denominators of the whole mini-batch
     * @return what the micro-batch adds to the loss of the mini-batch
     */
    Part accumulate(TrainedModel model, MicroBatch batch, BatchTotals totals);

    /**
     * Part of the loss of a mini-batch.
     *
     * @param loss the parts of all micro-batches add up to the loss
     * @param metrics to be merged over micro-batches
     */
    record Part(double loss, Metrics metrics) {}
}
