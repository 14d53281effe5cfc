package io.bellows.env;

import java.lang.annotation.Annotation;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * The annotated methods of a class, found by one mechanism for all annotations: priority descending, then name. A method is inherited
 * with its annotation; an override without any keeps it, one with another replaces it.
 */
final class Handlers {

    private static final List<Class<? extends Annotation>> KINDS = List.of(
            Stop.class, Setup.class, Cleanup.class, Teardown.class, Reward.class, GroupReward.class, Metric.class);

    private static final ClassValue<List<Handler>> BY_CLASS = new ClassValue<>() {
        @Override
        protected List<Handler> computeValue(Class<?> type) {
            return find(type);
        }
    };

    /** An annotated method. */
    record Handler(Method method, String name, int priority, Annotation annotation) {

        Object call(Object target, Object... arguments) throws Exception {
            try {
                return method.invoke(target, arguments);
            } catch (InvocationTargetException e) {
                if (e.getCause() instanceof Error error) {
                    throw error;
                }
                throw e.getCause() instanceof Exception cause ? cause : e;
            }
        }

        /** Calls a method that takes the state or nothing. */
        Object callWith(Object target, State state) throws Exception {
            return method.getParameterCount() == 0 ? call(target) : call(target, state);
        }
    }

    private Handlers() {}

    /** The handlers of a class with an annotation, in their order. */
    static List<Handler> of(Class<?> type, Class<? extends Annotation> kind) {
        return BY_CLASS.get(type).stream()
                .filter(handler -> kind.isInstance(handler.annotation()))
                .toList();
    }

    private static List<Handler> find(Class<?> type) {
        Set<String> overridden = new HashSet<>();
        List<Handler> found = new ArrayList<>();
        for (Class<?> owner = type; owner != null && owner != Object.class; owner = owner.getSuperclass()) {
            for (Method method : owner.getDeclaredMethods()) {
                Annotation annotation = annotation(method);
                String signature = method.getName() + Arrays.toString(method.getParameterTypes());
                // Without an annotation of ours the next one up the hierarchy holds.
                if (annotation != null && !method.isBridge() && overridden.add(signature)) {
                    found.add(handler(method, annotation));
                }
            }
        }
        found.sort(Comparator.comparingInt((Handler handler) -> -handler.priority())
                .thenComparing(Handler::name));
        return List.copyOf(found);
    }

    private static Annotation annotation(Method method) {
        return KINDS.stream()
                .<Annotation>map(method::getAnnotation)
                .filter(annotation -> annotation != null)
                .findFirst()
                .orElse(null);
    }

    private static Handler handler(Method method, Annotation annotation) {
        check(method, annotation);
        method.setAccessible(true); // an override is called through the method of its superclass
        return new Handler(method, snakeCase(method.getName()), priority(annotation), annotation);
    }

    private static void check(Method method, Annotation annotation) {
        String what = "Invalid @" + annotation.annotationType().getSimpleName() + " "
                + method.getDeclaringClass().getName() + "." + method.getName() + ": ";
        if (Modifier.isStatic(method.getModifiers()) || Modifier.isPrivate(method.getModifiers())) {
            throw new IllegalArgumentException(what + "a static or private method; make it an instance method");
        }
        if (annotation instanceof Stop && method.getReturnType() != boolean.class) {
            throw new IllegalArgumentException(what + "a stop condition returns a boolean");
        }
        if (annotation instanceof GroupReward) {
            boolean takesStates = method.getParameterCount() == 1
                    && method.getParameterTypes()[0] == List.class
                    && List.class.isAssignableFrom(method.getReturnType());
            if (!takesStates) {
                throw new IllegalArgumentException(
                        what + "it takes a List<State> and nothing else, and returns a List<Double>");
            }
            return;
        }
        boolean byName = annotation instanceof Reward || annotation instanceof Metric;
        boolean takesState = method.getParameterCount() == 0
                || (method.getParameterCount() == 1 && method.getParameterTypes()[0] == State.class);
        if (!byName && !takesState) {
            throw new IllegalArgumentException(what + "it may take the State and nothing else");
        }
    }

    private static int priority(Annotation annotation) {
        if (annotation instanceof Stop stop) {
            return stop.priority();
        } else if (annotation instanceof Setup setup) {
            return setup.priority();
        } else if (annotation instanceof Cleanup cleanup) {
            return cleanup.priority();
        } else if (annotation instanceof Teardown teardown) {
            return teardown.priority();
        }
        if (annotation instanceof GroupReward reward) {
            return reward.priority();
        }
        return annotation instanceof Reward reward ? reward.priority() : ((Metric) annotation).priority();
    }

    static String snakeCase(String name) {
        return name.replaceAll("([a-z0-9])([A-Z])", "$1_$2").toLowerCase(Locale.ROOT);
    }
}
