package io.bellows.env;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A reward of the environment or of a {@link Rubric}: a method that returns a number. Its arguments are given by name: {@code state},
 * {@code prompt}, {@code completion}, {@code response}, {@code answer}, {@code info}, {@code parser}, or any column of the dataset.
 * Null says that there is no reward; so does an {@link io.bellows.reward.UnscoredException}, which also says why.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Reward {

    /** Factor in the sum. */
    double weight() default 1;

    /** Higher ones come first; equal ones by name. */
    int priority() default 0;
}
