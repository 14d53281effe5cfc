package io.bellows.env;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A method of an {@link EnvironmentFactory} that runs once, when the last trajectory of a task has ended: for what trajectories share.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Teardown {

    /** Higher ones come first; equal ones by name. */
    int priority() default 0;
}
