package io.bellows.env;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A method that prepares a trajectory, before {@link MultiTurnEnv#setupState}. It may take the {@link State}.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Setup {

    /** Higher ones come first; equal ones by name. */
    int priority() default 0;
}
