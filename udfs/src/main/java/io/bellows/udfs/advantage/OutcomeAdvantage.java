package io.bellows.udfs.advantage;

import java.util.ArrayList;
import java.util.List;

/** An estimator that gives every sampled token of a trajectory the same advantage, from the scores of its group. */
interface OutcomeAdvantage extends AdvantageEstimator {

    /**
     * One advantage per sample.
     *
     * @param group samples of one prompt
     * @return any finite number for samples that are absent; it is not used
     */
    double[] outcomes(List<Sample> group);

    @Override
    default List<Advantages> estimate(List<Sample> group) {
        double[] outcomes = outcomes(group);
        List<Advantages> estimates = new ArrayList<>();
        for (int i = 0; i < outcomes.length; i++) {
            Sample sample = group.get(i);
            estimates.add(
                    sample.isAbsent()
                            ? Advantages.none(sample.length())
                            : Advantages.constant(outcomes[i], sample.mask()));
        }
        return estimates;
    }

    @Override
    default boolean returnsAreAdvantages() {
        return true;
    }

    @Override
    default boolean comparesGroup() {
        return true;
    }

    /** The scores of a group. */
    static double[] scores(List<Sample> group) {
        return group.stream().mapToDouble(Sample::score).toArray();
    }
}
