package io.bellows.text.jinja;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The arguments of a call as written. */
record CallArguments(List<Expression> positional, Map<String, Expression> named) {

    static final CallArguments NONE = new CallArguments(List.of(), Map.of());

    Arguments evaluate(Frame frame, String callee) {
        List<Object> values = new ArrayList<>(positional.size());
        positional.forEach(argument -> values.add(frame.evaluate(argument)));
        Map<String, Object> namedValues = new LinkedHashMap<>();
        named.forEach((name, argument) -> namedValues.put(name, frame.evaluate(argument)));
        return new Arguments(callee, values, namedValues);
    }
}
