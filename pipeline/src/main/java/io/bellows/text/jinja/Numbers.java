package io.bellows.text.jinja;

import java.math.BigDecimal;
import java.math.BigInteger;

/** Arithmetic as in Python; integers beyond 64 bits can be printed and compared, not computed with. */
final class Numbers {

    private Numbers() {}

    static boolean isNumber(Object value) {
        return isInteger(value) || value instanceof Double;
    }

    /** Integers, among which Python counts the two truth values. */
    static boolean isInteger(Object value) {
        return value instanceof Long || value instanceof Boolean || value instanceof BigInteger;
    }

    static int compare(Object left, Object right) {
        if (left instanceof Double || right instanceof Double) {
            double a = real(left);
            double b = real(right);
            if (Double.isNaN(a) || Double.isNaN(b) || Double.isInfinite(a) || Double.isInfinite(b)) {
                return a < b ? -1 : a == b ? 0 : 1;
            }
            return decimal(left).compareTo(decimal(right));
        }
        return decimal(left).compareTo(decimal(right));
    }

    private static BigDecimal decimal(Object value) {
        if (value instanceof Double number) {
            return new BigDecimal(number);
        }
        return value instanceof BigInteger number ? new BigDecimal(number) : BigDecimal.valueOf(integer(value));
    }

    static long integer(Object value) {
        if (value instanceof Boolean bool) {
            return bool ? 1 : 0;
        }
        if (value instanceof Long number) {
            return number;
        }
        throw new OperationException("Unsupported arithmetic with integers beyond 64 bits");
    }

    static double real(Object value) {
        if (value instanceof Double number) {
            return number;
        }
        return value instanceof BigInteger number ? number.doubleValue() : (double) integer(value);
    }

    static Object calculate(String operator, Object left, Object right) {
        try {
            if (operator.equals("/")) {
                return divide(real(left), real(right));
            }
            return left instanceof Double || right instanceof Double
                    ? (Object) reals(operator, real(left), real(right))
                    : integers(operator, integer(left), integer(right));
        } catch (ArithmeticException e) {
            throw new OperationException("Cannot calculate " + Printing.text(left) + " " + operator + " "
                    + Printing.text(right) + ": " + e.getMessage());
        }
    }

    private static double divide(double left, double right) {
        if (right == 0) {
            throw new ArithmeticException("division by zero");
        }
        return left / right;
    }

    private static Object integers(String operator, long a, long b) {
        return switch (operator) {
            case "+" -> Math.addExact(a, b);
            case "-" -> Math.subtractExact(a, b);
            case "*" -> Math.multiplyExact(a, b);
            case "//" -> Math.floorDiv(a, b);
            case "%" -> Math.floorMod(a, b);
            case "**" -> b < 0 ? (Object) power((double) a, (double) b) : (Object) power(a, b);
            default -> throw new OperationException("Unsupported operator '" + operator + "'");
        };
    }

    private static double reals(String operator, double a, double b) {
        return switch (operator) {
            case "+" -> a + b;
            case "-" -> a - b;
            case "*" -> a * b;
            case "//" -> Math.floor(divide(a, b));
            case "%" -> modulo(a, b);
            case "**" -> power(a, b);
            default -> throw new OperationException("Unsupported operator '" + operator + "'");
        };
    }

    private static double modulo(double a, double b) {
        if (b == 0) {
            throw new ArithmeticException("division by zero");
        }
        double rest = a % b;
        if (rest == 0) {
            return Math.copySign(0.0, b);
        }
        return (rest < 0) == (b < 0) ? rest : rest + b;
    }

    private static double power(double a, double b) {
        if (a == 0 && b < 0) {
            throw new ArithmeticException("zero has no negative power");
        }
        double result = Math.pow(a, b);
        if (Double.isNaN(result) && !Double.isNaN(a) && !Double.isNaN(b)) {
            throw new ArithmeticException("the result is not real");
        }
        return result;
    }

    private static long power(long a, long b) {
        if (a == 0 || a == 1) {
            return b == 0 ? 1 : a;
        }
        if (a == -1) {
            return b % 2 == 0 ? 1 : -1;
        }
        long result = 1;
        for (long i = 0; i < b; i++) {
            result = Math.multiplyExact(result, a);
        }
        return result;
    }
}
