package io.bellows.cluster;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Optional;

/** How the arguments of a call go to the ranks of a {@link WorkerGroup}, and what comes back to the driver. Used on the driver only. */
public interface DispatchMode {

    /**
     * Looks at a method before anybody calls it.
     *
     * @param method of the worker interface
     * @param returned what it returns, without the future of a non-blocking method
     * @return what is wrong with it and what to do, or empty
     */
    Optional<String> problem(Method method, Class<?> returned);

    /**
     * Deals the arguments of a call out.
     *
     * @param arguments as the driver gave them
     * @param ranks the number of ranks
     * @return the arguments of each rank, null for a rank that takes no part
     */
    List<Object[]> deal(List<Object> arguments, int ranks);

    /**
     * Makes one result of those of the ranks.
     *
     * @param results of the ranks that took part, by rank
     * @return what the driver gets
     */
    Object collect(List<Object> results);
}
