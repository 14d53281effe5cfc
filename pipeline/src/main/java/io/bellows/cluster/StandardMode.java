package io.bellows.cluster;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** The dispatch modes that every group knows. */
abstract class StandardMode implements DispatchMode {

    private static final String RETURN_A_LIST =
            "return a List, to which each rank gives its part, or void; DispatchModes.RANK_ZERO returns anything";

    /** What of a method's arguments is wrong, and what to do. */
    abstract Optional<String> problem(List<Class<?>> parameters);

    @Override
    public Optional<String> problem(Method method, Class<?> returned) {
        Optional<String> problem = problem(List.of(method.getParameterTypes()));
        if (problem.isEmpty() && returned != List.class && returned != void.class && returned != Void.class) {
            return Optional.of("it returns " + returned.getSimpleName() + ", of which there is one for each rank; "
                    + RETURN_A_LIST);
        }
        return problem;
    }

    @Override
    public List<Object[]> deal(List<Object> arguments, int ranks) {
        return Collections.nCopies(ranks, arguments.toArray());
    }

    @Override
    public Object collect(List<Object> results) {
        List<Object> all = new ArrayList<>();
        for (Object result : results) {
            if (result instanceof List<?> part) {
                all.addAll(part);
            }
        }
        return all;
    }

    private static Optional<String> refuseRows(List<Class<?>> parameters) {
        return parameters.contains(RankRows.class)
                ? Optional.of(
                        "it has an argument of type RankRows, which is split; register it with DispatchModes.DP_COMPUTE_PROTO")
                : Optional.empty();
    }

    static final class OneToAll extends StandardMode {
        @Override
        Optional<String> problem(List<Class<?>> parameters) {
            return refuseRows(parameters);
        }
    }

    static final class RankZero extends StandardMode {
        @Override
        Optional<String> problem(List<Class<?>> parameters) {
            return refuseRows(parameters);
        }

        @Override
        public Optional<String> problem(Method method, Class<?> returned) {
            return problem(List.of(method.getParameterTypes()));
        }

        @Override
        public List<Object[]> deal(List<Object> arguments, int ranks) {
            List<Object[]> dealt = new ArrayList<>(Collections.nCopies(ranks, null));
            dealt.set(0, arguments.toArray());
            return dealt;
        }

        @Override
        public Object collect(List<Object> results) {
            return results.get(0);
        }
    }

    static final class DpCompute extends StandardMode {
        @Override
        Optional<String> problem(List<Class<?>> parameters) {
            return parameters.stream()
                    .filter(type -> type != List.class)
                    .findFirst()
                    .map(
                            type -> "it has an argument of type " + type.getSimpleName()
                                    + "; make it a List with an item for each rank, or register it with DispatchModes.ONE_TO_ALL");
        }

        @Override
        public List<Object[]> deal(List<Object> arguments, int ranks) {
            for (Object argument : arguments) {
                int items = argument instanceof List<?> list ? list.size() : 0;
                if (items != ranks) {
                    throw new IllegalArgumentException("it has an argument of " + items + " items for " + ranks
                            + " ranks; give an item for each rank");
                }
            }
            List<Object[]> dealt = new ArrayList<>();
            for (int rank = 0; rank < ranks; rank++) {
                int own = rank;
                dealt.add(arguments.stream()
                        .map(argument -> Arrays.asList(((List<?>) argument).get(own)))
                        .toArray());
            }
            return dealt;
        }
    }

    static final class DpComputeProto extends StandardMode {
        @Override
        Optional<String> problem(List<Class<?>> parameters) {
            long rows =
                    parameters.stream().filter(type -> type == RankRows.class).count();
            return rows == 1
                    ? Optional.empty()
                    : Optional.of("it has " + rows
                            + " arguments of type RankRows; give it one, or register it with DispatchModes.ONE_TO_ALL");
        }
    }
}
