package io.bellows.tool;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Makes a public method a tool. The schema comes from its parameters: names, types and {@link Param} descriptions; an {@link
 * java.util.Optional} may be left out by the model. What it returns is treated as by {@link NativeTool#execute}; a {@link
 * java.util.concurrent.CompletableFuture} is waited for.
 *
 * <p>A method that is not static is called on an instance that its trajectory has to itself; the class then has a public
 * constructor without arguments.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface FunctionTool {

    /** What the tool does, for the model. */
    String value();

    /** The tool's name; empty: the method's. */
    String name() default "";
}
