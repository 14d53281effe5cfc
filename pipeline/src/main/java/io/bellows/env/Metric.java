package io.bellows.env;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A number that is recorded and decides nothing: a {@link Reward} of weight 0.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Metric {

    /** Higher ones come first; equal ones by name. */
    int priority() default 0;
}
