package io.bellows.env;

import java.util.ArrayList;
import java.util.List;

/** Several rubrics as one: the sum of their rewards, and all their metrics. Their order does not matter. */
public final class RubricGroup {

    private RubricGroup() {}

    /**
     * One rubric of several; each keeps its parser.
     *
     * @throws IllegalArgumentException if two rewards or metrics have one name; the text names both owners
     */
    public static Rubric of(Rubric... rubrics) {
        List<Rubric.Term> terms = new ArrayList<>();
        for (Rubric rubric : rubrics) {
            terms.addAll(rubric.terms());
        }
        return new Rubric(terms);
    }
}
