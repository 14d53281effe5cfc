package io.bellows.tool;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

/** A method as a tool: arguments by name become its parameters. */
final class FunctionToolMethod implements NativeTool {

    private final Method method;
    private final Object owner;

    private FunctionToolMethod(Method method, Object owner) {
        this.method = method;
        this.owner = owner;
    }

    /**
     * The annotated methods of a class, by name.
     *
     * @throws IllegalArgumentException when there is none, or one that cannot be a tool
     */
    static List<Tool> toolsOf(Class<?> type) {
        List<Method> methods = Arrays.stream(type.getDeclaredMethods())
                .filter(method -> method.isAnnotationPresent(FunctionTool.class))
                .sorted(Comparator.comparing(Method::getName).thenComparing(Method::toString))
                .toList();
        if (methods.isEmpty()) {
            throw new IllegalArgumentException("Invalid class of function tools " + type.getName()
                    + ": no method has the annotation @FunctionTool");
        }
        List<Tool> tools = new ArrayList<>();
        methods.forEach(method -> tools.add(tool(type, method)));
        return tools;
    }

    /** The object that the method belongs to in its trajectory; null for a static method, which has no state. */
    Object owner() {
        return owner;
    }

    @Override
    public Object execute(ObjectNode arguments, ObjectNode executeKwargs) throws Exception {
        Parameter[] parameters = method.getParameters();
        Object[] values = new Object[parameters.length];
        for (int i = 0; i < values.length; i++) {
            values[i] = value(parameters[i], arguments.get(parameters[i].getName()));
        }
        try {
            Object returned = method.invoke(owner, values);
            return returned instanceof Future<?> future ? await(future) : returned;
        } catch (InvocationTargetException e) {
            throw cause(e);
        }
    }

    /** What was thrown inside, as what can be thrown on. */
    static Exception cause(Exception wrapped) {
        if (wrapped.getCause() instanceof Error error) {
            throw error;
        }
        return wrapped.getCause() instanceof Exception cause ? cause : wrapped;
    }

    private static Object await(Future<?> future) throws Exception {
        try {
            return future.get();
        } catch (InterruptedException e) {
            future.cancel(true);
            throw e;
        } catch (ExecutionException e) {
            throw cause(e);
        }
    }

    private static Object value(Parameter parameter, JsonNode given) {
        Object value = given == null || given.isNull()
                ? null
                : ParameterSchema.convert(given, ParameterSchema.valueType(parameter.getParameterizedType()));
        return parameter.getType() == Optional.class ? Optional.ofNullable(value) : value;
    }

    private static Tool tool(Class<?> type, Method method) {
        String source = "method " + type.getName() + "." + method.getName();
        FunctionTool annotation = method.getAnnotation(FunctionTool.class);
        if (!Modifier.isPublic(method.getModifiers())
                || !Modifier.isPublic(type.getModifiers())
                || method.isVarArgs()) {
            throw new IllegalArgumentException("Unsupported " + source
                    + ": a function tool is a public method of a public class, without a variable number of arguments");
        }
        String name = annotation.name().isEmpty() ? method.getName() : annotation.name();
        ObjectNode schema = ToolSchema.of(name, annotation.value(), ParameterSchema.of(method));
        if (Modifier.isStatic(method.getModifiers())) {
            return Tool.of(schema, source, shared -> new FunctionToolMethod(method, null));
        }
        Constructor<?> constructor = constructor(type, source);
        return Tool.of(schema, source, shared -> new FunctionToolMethod(method, owner(constructor, shared)));
    }

    private static Object owner(Constructor<?> constructor, Map<Class<?>, Object> shared) throws Exception {
        Object owner = shared.get(constructor.getDeclaringClass());
        if (owner == null) {
            try {
                owner = constructor.newInstance();
            } catch (InvocationTargetException e) {
                throw cause(e);
            }
            shared.put(constructor.getDeclaringClass(), owner);
        }
        return owner;
    }

    private static Constructor<?> constructor(Class<?> type, String source) {
        try {
            return type.getConstructor();
        } catch (NoSuchMethodException e) {
            throw new IllegalArgumentException(
                    "Unsupported " + source + ": its class has no public constructor without arguments", e);
        }
    }
}
