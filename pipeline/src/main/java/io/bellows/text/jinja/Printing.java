package io.bellows.text.jinja;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** Values as Python prints them. */
final class Printing {

    private static final int MAX_DEPTH = 100;

    private Printing() {}

    /** Python's {@code str(value)}. */
    static Text text(Object value) {
        if (value instanceof Text text) {
            return text;
        }
        if (value instanceof Undefined) {
            return Text.EMPTY;
        }
        return representation(value);
    }

    /** Python's {@code repr(value)}. */
    static Text representation(Object value) {
        TextBuilder out = new TextBuilder();
        represent(value, out, 0);
        return out.build();
    }

    private static void represent(Object value, TextBuilder out, int depth) {
        checkDepth(depth);
        if (value instanceof Text text) {
            String quoted = quoted(text.value());
            out.append(text.hasContent() ? Text.ofContent(quoted) : Text.of(quoted));
        } else if (value instanceof List<?> list) {
            representAll("[", list, "]", out, depth);
        } else if (value instanceof Tuple tuple) {
            representAll("(", tuple.items(), tuple.items().size() == 1 ? ",)" : ")", out, depth);
        } else if (value instanceof Map<?, ?> map) {
            representMap(map, out, depth);
        } else if (value instanceof Undefined) {
            out.append("Undefined");
        } else {
            out.append(scalar(value));
        }
    }

    private static void representAll(String open, List<?> items, String close, TextBuilder out, int depth) {
        out.append(open);
        String separator = "";
        for (Object item : items) {
            out.append(separator);
            represent(item, out, depth + 1);
            separator = ", ";
        }
        out.append(close);
    }

    private static void representMap(Map<?, ?> map, TextBuilder out, int depth) {
        out.append("{");
        Iterator<? extends Map.Entry<?, ?>> entries = map.entrySet().iterator();
        while (entries.hasNext()) {
            Map.Entry<?, ?> entry = entries.next();
            represent(entry.getKey(), out, depth + 1);
            out.append(": ");
            represent(entry.getValue(), out, depth + 1);
            out.append(entries.hasNext() ? ", " : "");
        }
        out.append("}");
    }

    static void checkDepth(int depth) {
        if (depth > MAX_DEPTH) {
            throw new OperationException("Cannot print a value nested more than " + MAX_DEPTH + " deep");
        }
    }

    private static String scalar(Object value) {
        if (value instanceof Boolean bool) {
            return bool ? "True" : "False";
        }
        if (value instanceof Double number) {
            return real(number);
        }
        if (value instanceof Long || value instanceof BigInteger) {
            return value.toString();
        }
        if (value == None.NONE) {
            return "None";
        }
        throw new OperationException("Unsupported printing of a " + Types.name(value)
                + (value instanceof Generator || value instanceof DictView || value instanceof Range
                        ? "; turn it into a list first"
                        : ""));
    }

    /** The shortest decimal that reads back as the same number, in Python's notation. */
    static String real(double number) {
        if (Double.isNaN(number)) {
            return "nan";
        }
        if (Double.isInfinite(number)) {
            return number > 0 ? "inf" : "-inf";
        }
        if (number == 0) {
            return 1 / number < 0 ? "-0.0" : "0.0";
        }
        BigDecimal exact = new BigDecimal(number);
        BigDecimal shortest = exact;
        for (int digits = 1; digits <= 17; digits++) {
            shortest = exact.round(new MathContext(digits, RoundingMode.HALF_EVEN));
            if (shortest.doubleValue() == number) {
                break;
            }
        }
        shortest = shortest.stripTrailingZeros();
        int exponent = shortest.precision() - shortest.scale() - 1;
        if (exponent >= -4 && exponent < 16) {
            return shortest.scale() <= 0 ? shortest.toPlainString() + ".0" : shortest.toPlainString();
        }
        String digits = shortest.unscaledValue().abs().toString();
        String mantissa = digits.length() == 1 ? digits : digits.charAt(0) + "." + digits.substring(1);
        String power = (exponent < 0 ? "-" : "+") + (Math.abs(exponent) < 10 ? "0" : "") + Math.abs(exponent);
        return (number < 0 ? "-" : "") + mantissa + "e" + power;
    }

    private static String quoted(String value) {
        char quote = value.indexOf('\'') >= 0 && value.indexOf('"') < 0 ? '"' : '\'';
        StringBuilder out = new StringBuilder(value.length() + 2).append(quote);
        value.codePoints().forEach(c -> {
            if (c == quote || c == '\\') {
                out.append('\\').appendCodePoint(c);
            } else if (c == '\n') {
                out.append("\\n");
            } else if (c == '\r') {
                out.append("\\r");
            } else if (c == '\t') {
                out.append("\\t");
            } else if (isPrintable(c)) {
                out.appendCodePoint(c);
            } else if (c <= 0xff) {
                out.append(hex("\\x", c, 2));
            } else {
                out.append(c <= 0xffff ? hex("\\u", c, 4) : hex("\\U", c, 8));
            }
        });
        return out.append(quote).toString();
    }

    static String hex(String prefix, int value, int digits) {
        String hex = Integer.toHexString(value);
        return prefix + "0".repeat(digits - hex.length()) + hex;
    }

    private static boolean isPrintable(int c) {
        return switch (Character.getType(c)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.PRIVATE_USE,
                    Character.UNASSIGNED,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> false;
            case Character.SPACE_SEPARATOR -> c == ' ';
            default -> true;
        };
    }
}
