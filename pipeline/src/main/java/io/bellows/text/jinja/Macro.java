package io.bellows.text.jinja;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A macro, or the body of a {@code call} block.
 *
 * @param definition the scope it was defined in, whose variables it sees
 * @param defaults of the last parameters
 */
record Macro(
        String name,
        List<String> parameters,
        List<Expression> defaults,
        List<Statement> body,
        boolean takesMore,
        boolean takesNamed,
        Frame definition)
        implements Callable {

    @Override
    public Object call(Arguments arguments) {
        Frame frame = definition.inner();
        Map<String, Object> named = new LinkedHashMap<>(arguments.named());
        Object caller = named.remove("caller");
        frame.set("caller", caller == null ? new Undefined("No caller defined") : caller);
        int given = arguments.positional().size();
        for (int i = 0; i < parameters.size(); i++) {
            String parameter = parameters.get(i);
            Object value = i < given ? arguments.positional().get(i) : named.remove(parameter);
            frame.set(parameter, value == null ? missing(i, frame) : value);
        }
        List<Object> more = new ArrayList<>(arguments.positional().subList(Math.min(given, parameters.size()), given));
        if (!more.isEmpty() && !takesMore) {
            throw new OperationException("Invalid call of macro '" + name + "': it takes at most " + parameters.size()
                    + " arguments, not " + given);
        }
        if (!named.isEmpty() && !takesNamed) {
            throw new OperationException("Invalid call of macro '" + name + "': it has no parameter '"
                    + named.keySet().iterator().next() + "', or it is given twice");
        }
        frame.set("varargs", new Tuple(more));
        Map<Object, Object> rest = new LinkedHashMap<>();
        named.forEach((key, value) -> rest.put(Text.of(key), value));
        frame.set("kwargs", rest);
        TextBuilder out = new TextBuilder();
        frame.execute(body, out);
        return out.build();
    }

    private Object missing(int parameter, Frame frame) {
        int firstDefault = parameters.size() - defaults.size();
        return parameter >= firstDefault
                ? frame.evaluate(defaults.get(parameter - firstDefault))
                : new Undefined("parameter '" + parameters.get(parameter) + "' was not provided");
    }
}
