package io.bellows.text.jinja;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The kinds of expressions. */
final class Expressions {

    private Expressions() {}

    record Literal(int line, Object value) implements Expression {
        @Override
        public Object evaluate(Frame frame) {
            return value;
        }
    }

    record Name(int line, String name) implements Expression {
        @Override
        public Object evaluate(Frame frame) {
            return frame.get(name);
        }
    }

    record ListLiteral(int line, List<Expression> items) implements Expression {
        @Override
        public Object evaluate(Frame frame) {
            return all(items, frame);
        }
    }

    record TupleLiteral(int line, List<Expression> items) implements Expression {
        @Override
        public Object evaluate(Frame frame) {
            return new Tuple(all(items, frame));
        }
    }

    record DictLiteral(int line, List<Expression> keys, List<Expression> values) implements Expression {
        @Override
        public Object evaluate(Frame frame) {
            Map<Object, Object> dict = new LinkedHashMap<>();
            for (int i = 0; i < keys.size(); i++) {
                Object key = frame.evaluate(keys.get(i));
                if (!(key instanceof Text || key instanceof Long || key == None.NONE)) {
                    throw new OperationException("Unsupported key of a dict: a " + Types.name(key));
                }
                dict.put(key, frame.evaluate(values.get(i)));
            }
            return dict;
        }
    }

    /** {@code target.name}. */
    record Attribute(int line, Expression target, String name) implements Expression {
        @Override
        public Object evaluate(Frame frame) {
            return Attributes.attribute(frame.evaluate(target), name);
        }
    }

    /** {@code target[index]}. */
    record Item(int line, Expression target, Expression index) implements Expression {
        @Override
        public Object evaluate(Frame frame) {
            return Attributes.item(frame.evaluate(target), frame.evaluate(index));
        }
    }

    /** {@code target[start:stop:step]}; parts left out are null. */
    record Slice(int line, Expression target, Expression start, Expression stop, Expression step)
            implements Expression {
        @Override
        public Object evaluate(Frame frame) {
            Object sliced = frame.evaluate(target);
            return Slicing.slice(sliced, bound(start, frame), bound(stop, frame), bound(step, frame));
        }

        private static Long bound(Expression expression, Frame frame) {
            Object value = expression == null ? None.NONE : frame.evaluate(expression);
            if (value == None.NONE) {
                return null;
            }
            if (value instanceof Long || value instanceof Boolean) {
                return Numbers.integer(value);
            }
            throw new OperationException("Cannot slice with a " + Types.name(value) + ": an int is needed");
        }
    }

    record Call(int line, Expression target, CallArguments arguments) implements Expression {
        @Override
        public Object evaluate(Frame frame) {
            Object callee = frame.evaluate(target);
            String name = calleeName(target);
            if (callee instanceof Callable callable) {
                return callable.call(arguments.evaluate(frame, name));
            }
            if (callee instanceof Undefined undefined) {
                throw new OperationException("Unsupported call of " + name + ": " + undefined.problem());
            }
            throw new OperationException("Cannot call " + name + ": it is a " + Types.name(callee));
        }
    }

    static String calleeName(Expression target) {
        if (target instanceof Name name) {
            return "function '" + name.name() + "'";
        }
        return target instanceof Attribute attribute ? "method '" + attribute.name() + "'" : "a value";
    }

    /** {@code target | name(arguments)}. */
    record Filter(int line, Expression target, String name, CallArguments arguments) implements Expression {
        @Override
        public Object evaluate(Frame frame) {
            Object value = frame.evaluate(target);
            return Filters.apply(name, value, arguments.evaluate(frame, "filter '" + name + "'"));
        }
    }

    /** {@code target is name(arguments)}. */
    record Test(int line, Expression target, String name, CallArguments arguments) implements Expression {
        @Override
        public Object evaluate(Frame frame) {
            Object value = frame.evaluate(target);
            return Tests.holds(name, value, arguments.evaluate(frame, "test '" + name + "'"));
        }
    }

    record Sign(int line, String operator, Expression operand) implements Expression {
        @Override
        public Object evaluate(Frame frame) {
            Object value = frame.evaluate(operand);
            if (!Numbers.isNumber(value)) {
                throw Operators.mismatch(operator, value);
            }
            return Numbers.calculate(operator, 0L, value);
        }
    }

    record Not(int line, Expression operand) implements Expression {
        @Override
        public Object evaluate(Frame frame) {
            return !Truth.of(frame.evaluate(operand));
        }
    }

    /** {@code left and right}: the value of the operand that decided, as in Python. */
    record And(int line, Expression left, Expression right) implements Expression {
        @Override
        public Object evaluate(Frame frame) {
            Object value = frame.evaluate(left);
            return Truth.of(value) ? frame.evaluate(right) : value;
        }
    }

    record Or(int line, Expression left, Expression right) implements Expression {
        @Override
        public Object evaluate(Frame frame) {
            Object value = frame.evaluate(left);
            return Truth.of(value) ? value : frame.evaluate(right);
        }
    }

    record Arithmetic(int line, String operator, Expression left, Expression right) implements Expression {
        @Override
        public Object evaluate(Frame frame) {
            return Operators.apply(operator, frame.evaluate(left), frame.evaluate(right));
        }
    }

    /** {@code a ~ b ~ c}. */
    record Concatenation(int line, List<Expression> parts) implements Expression {
        @Override
        public Object evaluate(Frame frame) {
            TextBuilder out = new TextBuilder();
            parts.forEach(part -> out.append(Printing.text(frame.evaluate(part))));
            return out.build();
        }
    }

    /** {@code a < b <= c}: true if each neighbouring pair holds. */
    record Comparison(int line, Expression first, List<String> operators, List<Expression> others)
            implements Expression {
        @Override
        public Object evaluate(Frame frame) {
            Object left = frame.evaluate(first);
            for (int i = 0; i < operators.size(); i++) {
                Object right = frame.evaluate(others.get(i));
                if (!Operators.compare(operators.get(i), left, right)) {
                    return false;
                }
                left = right;
            }
            return true;
        }
    }

    /** {@code then if condition else otherwise}; {@code otherwise} may be null. */
    record Conditional(int line, Expression then, Expression condition, Expression otherwise) implements Expression {
        @Override
        public Object evaluate(Frame frame) {
            if (Truth.of(frame.evaluate(condition))) {
                return frame.evaluate(then);
            }
            return otherwise == null
                    ? new Undefined("the inline if-expression has no else")
                    : frame.evaluate(otherwise);
        }
    }

    private static List<Object> all(List<Expression> items, Frame frame) {
        List<Object> values = new ArrayList<>(items.size());
        items.forEach(item -> values.add(frame.evaluate(item)));
        return values;
    }
}
