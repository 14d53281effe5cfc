package io.bellows.env;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A method that cleans up after a trajectory, on whichever way it ended. It may take the {@link State}. Each runs alone, whatever the
 * others do, within a budget of its own.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Cleanup {

    /** Higher ones come first; equal ones by name. */
    int priority() default 0;
}
