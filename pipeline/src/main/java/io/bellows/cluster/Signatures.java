package io.bellows.cluster;

import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** The methods of a worker interface, found fit for their dispatch modes. */
final class Signatures {

    private final Map<Method, Signature> methods;

    private Signatures(Map<Method, Signature> methods) {
        this.methods = methods;
    }

    private record Signature(DispatchMode mode, boolean blocking) {}

    /** @throws IllegalArgumentException naming each method that does not fit */
    static Signatures of(Class<?> type, DispatchModes modes) {
        Map<Method, Signature> methods = new HashMap<>();
        List<String> problems = new ArrayList<>();
        Method[] declared = type.getMethods();
        Arrays.sort(declared, Comparator.comparing(Method::toString));
        for (Method method : declared) {
            Register register = method.getAnnotation(Register.class);
            Optional<DispatchMode> mode = register == null ? Optional.empty() : modes.find(register.dispatch());
            Optional<String> problem = problem(method, register, mode, modes);
            if (problem.isPresent()) {
                problems.add("Cannot dispatch " + name(method) + problem.get());
            } else {
                methods.put(method, new Signature(mode.orElseThrow(), register.blocking()));
            }
        }
        if (!problems.isEmpty()) {
            throw new IllegalArgumentException(String.join("\n", problems));
        }
        return new Signatures(methods);
    }

    private static Optional<String> problem(
            Method method, Register register, Optional<DispatchMode> mode, DispatchModes modes) {
        if (register == null) {
            return Optional.of(": nothing says how; annotate it with @Register(dispatch = ...)");
        }
        String by = " by " + register.dispatch() + ": ";
        if (mode.isEmpty()) {
            return Optional.of(by + "there is no such mode; there are " + String.join(", ", modes.names())
                    + ", and DispatchModes.with registers others");
        }
        boolean future = method.getReturnType() == CompletableFuture.class;
        if (future == register.blocking()) {
            return Optional.of(by
                    + (future
                            ? "it returns a CompletableFuture and is blocking; add blocking = false"
                            : "it is not blocking; return a CompletableFuture, or leave out blocking = false"));
        }
        return mode.get()
                .problem(method, future ? promised(method) : method.getReturnType())
                .map(by::concat);
    }

    /** What a future is of, as far as it is told. */
    private static Class<?> promised(Method method) {
        Type of = method.getGenericReturnType() instanceof ParameterizedType future
                ? future.getActualTypeArguments()[0]
                : Object.class;
        Type raw = of instanceof ParameterizedType generic ? generic.getRawType() : of;
        return raw instanceof Class<?> known ? known : Object.class;
    }

    static String name(Method method) {
        return method.getDeclaringClass().getSimpleName() + "." + method.getName();
    }

    DispatchMode mode(Method method) {
        return methods.get(method).mode;
    }

    boolean blocking(Method method) {
        return methods.get(method).blocking;
    }
}
