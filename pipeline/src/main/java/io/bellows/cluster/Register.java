package io.bellows.cluster;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Says of a method of a worker interface how a {@link WorkerGroup} runs it on the ranks. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Register {

    /** How arguments go to ranks and results come back: a name that the group's {@link DispatchModes} know. */
    String dispatch();

    /** Whether the driver waits for the ranks; where it does not, the method returns a {@link java.util.concurrent.CompletableFuture}. */
    boolean blocking() default true;
}
