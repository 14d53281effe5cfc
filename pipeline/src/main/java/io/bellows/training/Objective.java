package io.bellows.training;

import io.bellows.model.TokenScores;
import io.bellows.udfs.loss.BatchTotals;
import io.bellows.udfs.loss.LossGradient;
import io.bellows.udfs.loss.Sequences;
import java.io.Serializable;
import java.util.List;

/** What an update minimises, as a function of the log-prob and the entropy of each response token. */
public interface Objective extends Serializable {

    /**
     * Returns the temperature that log-probs are taken at.
     *
     * @return a positive number
     */
    double temperature();

    /**
     * Returns the share of some sequences in the denominators of their mini-batch.
     *
     * @param sequences any part of a mini-batch
     * @return its totals, to be added to those of the other parts
     */
    BatchTotals totals(Sequences sequences);

    /**
     * Returns loss and derivatives of a micro-batch.
     *
     * @param rows the rows of the micro-batch
     * @param sequences their response tokens laid end to end
     * @param scores what the policy says about these tokens now
     * @param totals denominators of the whole mini-batch
     * @return the micro-batch's share of the mini-batch loss, and its derivatives
     */
    LossGradient compute(List<TrainingSequence> rows, Sequences sequences, TokenScores scores, BatchTotals totals);
}
