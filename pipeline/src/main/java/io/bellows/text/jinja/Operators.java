package io.bellows.text.jinja;

import java.util.List;

/** Operators between two values, as in Python. */
final class Operators {

    private Operators() {}

    static Object apply(String operator, Object left, Object right) {
        if (Numbers.isNumber(left) && Numbers.isNumber(right)) {
            return Numbers.calculate(operator, left, right);
        }
        if (operator.equals("+")) {
            return add(left, right);
        }
        if (operator.equals("*") && Numbers.isInteger(right)) {
            return repeat(left, Numbers.integer(right));
        }
        if (operator.equals("*") && Numbers.isInteger(left)) {
            return repeat(right, Numbers.integer(left));
        }
        if (operator.equals("%") && left instanceof Text) {
            throw new OperationException("Unsupported operator '%' on a str");
        }
        throw mismatch(operator, left, right);
    }

    private static Object add(Object left, Object right) {
        if (left instanceof Text a && right instanceof Text b) {
            checkMarkup(a, b);
            return new TextBuilder().append(a).append(b).build();
        }
        if (left instanceof List && right instanceof List) {
            return Sequences.concatenated(Sequences.items(left), Sequences.items(right));
        }
        if (left instanceof Tuple a && right instanceof Tuple b) {
            return new Tuple(Sequences.concatenated(a.items(), b.items()));
        }
        throw mismatch("+", left, right);
    }

    /** In Jinja, text marked safe escapes what is added to it; so far nothing here needs that. */
    private static void checkMarkup(Text left, Text right) {
        if (left.isMarkup() != right.isMarkup()) {
            String plain = (left.isMarkup() ? right : left).value();
            if (plain.chars().anyMatch(c -> "&<>'\"".indexOf(c) >= 0)) {
                throw new OperationException(
                        "Unsupported operator '+' of text marked safe and text to be escaped; use '~'");
            }
        }
    }

    private static Object repeat(Object value, long times) {
        if (value instanceof Text text) {
            TextBuilder out = new TextBuilder();
            for (long i = 0; i < times && !text.value().isEmpty(); i++) {
                out.append(text);
            }
            return out.build();
        }
        if (value instanceof List) {
            return Sequences.repeated(Sequences.items(value), times);
        }
        if (value instanceof Tuple tuple) {
            return new Tuple(Sequences.repeated(tuple.items(), times));
        }
        throw mismatch("*", value, times);
    }

    static boolean compare(String operator, Object left, Object right) {
        return switch (operator) {
            case "==" -> Comparing.equal(left, right);
            case "!=" -> !Comparing.equal(left, right);
            case "<" -> Comparing.order(left, right) < 0;
            case "<=" -> Comparing.order(left, right) <= 0;
            case ">" -> Comparing.order(left, right) > 0;
            case ">=" -> Comparing.order(left, right) >= 0;
            case "in" -> Comparing.contains(right, left);
            case "not in" -> !Comparing.contains(right, left);
            default -> throw new OperationException("Unsupported operator '" + operator + "'");
        };
    }

    static OperationException mismatch(String operator, Object... operands) {
        StringBuilder types = new StringBuilder();
        for (Object operand : operands) {
            if (operand instanceof Undefined undefined) {
                return undefined.failure();
            }
            types.append(types.isEmpty() ? "a " : " and a ").append(Types.name(operand));
        }
        return new OperationException("Cannot use operator '" + operator + "' on " + types);
    }
}
