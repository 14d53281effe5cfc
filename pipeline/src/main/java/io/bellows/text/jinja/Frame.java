package io.bellows.text.jinja;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A scope of variables inside others. Loops, macros and captured blocks open one; {@code if} does not. */
final class Frame {

    private final Frame outer; // null: the outermost, which holds the globals
    private final Run run;
    private final Map<String, Object> variables = new HashMap<>();

    private Frame(Frame outer, Run run) {
        this.outer = outer;
        this.run = run;
    }

    static Frame outermost(Map<String, Object> globals) {
        Frame frame = new Frame(null, new Run());
        frame.variables.putAll(globals);
        return frame;
    }

    Frame inner() {
        return new Frame(this, run);
    }

    void set(String name, Object value) {
        variables.put(name, value);
    }

    Object get(String name) {
        for (Frame frame = this; frame != null; frame = frame.outer) {
            Object value = frame.variables.get(name);
            if (value != null) {
                return value;
            }
        }
        return Undefined.variable(name);
    }

    /** The value of an expression; what fails in it fails at its line. */
    Object evaluate(Expression expression) {
        run.enter(expression.line());
        try {
            Object value = expression.evaluate(this);
            if (value instanceof Text text) {
                run.countSize(text.value().length(), expression.line());
            } else if (value instanceof List<?> list) {
                run.countSize(list.size(), expression.line());
            } else if (value instanceof Range range) {
                run.countSize(range.items().size(), expression.line());
            }
            return value;
        } catch (OperationException e) {
            throw new TemplateException(e.getMessage(), expression.line());
        } finally {
            run.leave();
        }
    }

    /** Counts one turn of a loop at a line. */
    void countTurn(int line) {
        run.enter(line);
        run.leave();
    }

    /** Runs statements in this scope until one breaks out of a loop. */
    Flow execute(List<Statement> statements, TextBuilder out) {
        for (Statement statement : statements) {
            Flow flow = execute(statement, out);
            if (flow != Flow.NEXT) {
                return flow;
            }
        }
        return Flow.NEXT;
    }

    private Flow execute(Statement statement, TextBuilder out) {
        run.enter(statement.line());
        try {
            return statement.execute(this, out);
        } catch (OperationException e) {
            throw new TemplateException(e.getMessage(), statement.line());
        } finally {
            run.leave();
        }
    }

    /** What statements write, in a scope of their own. */
    Text capture(List<Statement> statements) {
        TextBuilder out = new TextBuilder();
        inner().execute(statements, out);
        return out.build();
    }
}
