package io.bellows.env;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A stop condition: a method that returns a boolean and may take the {@link State}. It is asked after the model's turn and again after the
 * environment's answer; the first that is true ends the trajectory and is recorded under its name in snake case.
 *
 * <p>An overridden method keeps its annotation, unless the override has another one.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Stop {

    /** Whether the trajectory has come to its end, or a limit cut it short. */
    Ending value() default Ending.FINISHED;

    /** What a stop condition means for the record. */
    enum Ending {
        /** The trajectory is complete. */
        FINISHED,
        /** A limit was met: the trajectory is truncated. */
        RAN_OUT
    }

    /** Higher ones come first; equal ones by name. */
    int priority() default 0;
}
