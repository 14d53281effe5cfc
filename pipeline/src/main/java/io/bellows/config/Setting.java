package io.bellows.config;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Makes a record component a configuration key. The key's name is the component's name in snake case; its section is the
 * path of record components that leads to it.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface Setting {

    /** The default, written as YAML; {@code null} for a boxed component that may be absent. */
    String value();

    /** One sentence for the table that {@code bellows validate --defaults} prints. */
    String about();

    /** The smallest number allowed, itself included. */
    double min() default Double.NEGATIVE_INFINITY;

    /** The largest number allowed, itself included. */
    double max() default Double.POSITIVE_INFINITY;

    /** The texts allowed; empty when any text is. Holds for each element of a list. */
    String[] oneOf() default {};

    /** Whether a run that exists may be continued with another value. */
    OnResume onResume() default OnResume.FIXED;
}
