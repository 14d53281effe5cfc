package io.bellows.text.jinja;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The kinds of statements. */
final class Statements {

    private Statements() {}

    /** Text outside of tags. */
    record Data(int line, Text text) implements Statement {
        @Override
        public Flow execute(Frame frame, TextBuilder out) {
            out.append(text);
            return Flow.NEXT;
        }
    }

    /** <code>{{ expression }}</code>. */
    record Output(int line, Expression expression) implements Statement {
        @Override
        public Flow execute(Frame frame, TextBuilder out) {
            out.append(Printing.text(frame.evaluate(expression)));
            return Flow.NEXT;
        }
    }

    /** {@code if} with its {@code elif}s: the body of the first condition that holds, else {@code otherwise}. */
    record If(int line, List<Expression> conditions, List<List<Statement>> bodies, List<Statement> otherwise)
            implements Statement {
        @Override
        public Flow execute(Frame frame, TextBuilder out) {
            for (int i = 0; i < conditions.size(); i++) {
                if (Truth.of(frame.evaluate(conditions.get(i)))) {
                    return frame.execute(bodies.get(i), out);
                }
            }
            return frame.execute(otherwise, out);
        }
    }

    /** {@code for targets in items if condition}; {@code condition} may be null. */
    record For(
            int line,
            Target target,
            Expression items,
            Expression condition,
            List<Statement> body,
            List<Statement> otherwise)
            implements Statement {
        @Override
        public Flow execute(Frame frame, TextBuilder out) {
            List<Object> chosen = chosen(Sequences.items(frame.evaluate(items)), frame);
            if (chosen.isEmpty()) {
                return frame.inner().execute(otherwise, out);
            }
            Loop loop = new Loop(chosen);
            for (int i = 0; i < chosen.size(); i++) {
                frame.countTurn(line);
                loop.moveTo(i);
                Frame turn = frame.inner();
                turn.set("loop", loop);
                target.assign(chosen.get(i), turn);
                if (turn.execute(body, out) == Flow.BREAK) {
                    break;
                }
            }
            return Flow.NEXT;
        }

        private List<Object> chosen(List<Object> all, Frame frame) {
            if (condition == null) {
                return all;
            }
            List<Object> chosen = new ArrayList<>();
            for (Object item : all) {
                Frame turn = frame.inner();
                turn.set("loop", new Undefined("'loop' is not known in the condition of a for"));
                target.assign(item, turn);
                if (Truth.of(turn.evaluate(condition))) {
                    chosen.add(item);
                }
            }
            return chosen;
        }
    }

    /** {@code set target = value}. */
    record Set(int line, Target target, Expression value) implements Statement {
        @Override
        public Flow execute(Frame frame, TextBuilder out) {
            target.assign(frame.evaluate(value), frame);
            return Flow.NEXT;
        }
    }

    /** {@code set target}…{@code endset}: {@code value} is the captured body behind its filters. */
    record SetBlock(int line, Target target, Captured body, Expression value) implements Statement {
        @Override
        public Flow execute(Frame frame, TextBuilder out) {
            target.assign(body.through(value, frame), frame);
            return Flow.NEXT;
        }
    }

    /** {@code filter name}…{@code endfilter}. */
    record FilterBlock(int line, Captured body, Expression value) implements Statement {
        @Override
        public Flow execute(Frame frame, TextBuilder out) {
            out.append(Printing.text(body.through(value, frame)));
            return Flow.NEXT;
        }
    }

    /** Statements whose output is a value; filter expressions read it under a name no template can spell. */
    record Captured(List<Statement> statements) {
        static final String NAME = "<captured>";

        Object through(Expression value, Frame frame) {
            Frame inner = frame.inner();
            inner.set(NAME, frame.capture(statements));
            return inner.evaluate(value);
        }
    }

    /** {@code macro name(parameters)}. */
    record Definition(int line, Signature signature) implements Statement {
        @Override
        public Flow execute(Frame frame, TextBuilder out) {
            frame.set(signature.name(), signature.bind(frame));
            return Flow.NEXT;
        }
    }

    /** A macro before it is bound to the scope it is defined in. */
    record Signature(
            String name,
            List<String> parameters,
            List<Expression> defaults,
            List<Statement> body,
            boolean takesMore,
            boolean takesNamed) {
        Macro bind(Frame frame) {
            return new Macro(name, parameters, defaults, body, takesMore, takesNamed, frame);
        }
    }

    /** {@code call(parameters) macro(arguments)}…{@code endcall}. */
    record CallBlock(int line, Expressions.Call call, Signature body) implements Statement {
        @Override
        public Flow execute(Frame frame, TextBuilder out) {
            String name = Expressions.calleeName(call.target());
            if (!(frame.evaluate(call.target()) instanceof Callable callable)) {
                throw new OperationException("Cannot call " + name + " with a body");
            }
            Arguments given = call.arguments().evaluate(frame, name);
            Map<String, Object> named = new LinkedHashMap<>(given.named());
            named.put("caller", body.bind(frame));
            out.append(Printing.text(callable.call(new Arguments(name, given.positional(), named))));
            return Flow.NEXT;
        }
    }

    /** {@code with target = value}, and {@code generation}, which is one without variables. */
    record Scope(int line, List<String> names, List<Expression> values, List<Statement> body) implements Statement {
        @Override
        public Flow execute(Frame frame, TextBuilder out) {
            Frame inner = frame.inner();
            for (int i = 0; i < names.size(); i++) {
                inner.set(names.get(i), frame.evaluate(values.get(i)));
            }
            return inner.execute(body, out);
        }
    }

    /** {@code break} and {@code continue}. */
    record Jump(int line, Flow flow) implements Statement {
        @Override
        public Flow execute(Frame frame, TextBuilder out) {
            return flow;
        }
    }
}
