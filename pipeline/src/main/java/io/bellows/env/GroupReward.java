package io.bellows.env;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A reward of the environment or of a {@link Rubric} that compares the trajectories of a prompt: a method that takes a {@code List<State>} and
 * returns a list with a number for each, null where it cannot say. It is asked once, when the last of them has ended and been cleaned up, on
 * the environment of the first: it reads the states it is given, not the fields that a trajectory has to itself. The list holds those that have a
 * score of their own, by sample index: not those that failed, were out of time before they were scored, or have no turn. ReMax's greedy baseline is
 * compared with nothing but itself.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface GroupReward {

    /** Factor in the sum. */
    double weight() default 1;

    /** Higher ones come first; equal ones by name. */
    int priority() default 0;
}
