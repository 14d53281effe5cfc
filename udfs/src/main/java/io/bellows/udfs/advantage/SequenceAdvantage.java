package io.bellows.udfs.advantage;

import java.util.List;

/** An estimator that looks at one trajectory alone. */
interface SequenceAdvantage extends AdvantageEstimator {

    /** Advantages and returns of a sample with a score. */
    Advantages estimate(Sample sample);

    @Override
    default List<Advantages> estimate(List<Sample> group) {
        return group.stream()
                .map(sample -> sample.isAbsent() ? Advantages.none(sample.length()) : estimate(sample))
                .toList();
    }
}
