package io.bellows.text.jinja;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.List;
import java.util.regex.Pattern;

/** The filters of Jinja that make text or numbers. */
final class TextFilters {

    private static final Pattern INTEGER = Pattern.compile("[+-]?[0-9]{1,18}");
    private static final Pattern REAL =
            Pattern.compile("[+-]?([0-9]{1,40}(\\.[0-9]{0,40})?|\\.[0-9]{1,40})([eE][+-]?[0-9]{1,4})?");

    private TextFilters() {}

    static Object apply(String name, Object value, Arguments arguments) {
        return switch (name) {
            case "string" -> {
                arguments.allow();
                yield Printing.text(value);
            }
            case "safe" -> {
                arguments.allow();
                yield Printing.text(value).asMarkup();
            }
            case "trim" -> TextMethods.strip(Printing.text(value), arguments.allow("chars"), true, true);
            case "upper", "lower", "capitalize" ->
                TextMethods.find(Printing.text(value), name).call(arguments);
            case "title" -> {
                arguments.allow();
                yield title(Printing.text(value));
            }
            case "replace" -> {
                arguments.allow("old", "new", "count");
                yield TextMethods.replace(
                        Printing.text(value),
                        Printing.text(arguments.require(0, "old")),
                        Printing.text(arguments.require(1, "new")),
                        arguments.integer(2, "count", -1));
            }
            case "indent" -> indent(Printing.text(value), arguments.allow("width", "first", "blank"));
            case "wordcount" -> {
                arguments.allow();
                yield (long) TextMethods.split(Printing.text(value), null, -1).size();
            }
            case "int" -> integer(value, arguments.allow("default", "base"));
            case "float" -> real(value, arguments.allow("default"));
            case "abs" -> {
                arguments.allow();
                yield absolute(value);
            }
            case "round" -> round(value, arguments.allow("precision", "method"));
            default -> throw new OperationException("Unsupported filter '" + name + "'");
        };
    }

    /** The filter's idea of words differs from that of the method {@code title()}: {@code it's} stays {@code It's}. */
    private static Text title(Text text) {
        StringBuilder out = new StringBuilder(text.value().length());
        boolean start = true;
        for (int i = 0; i < text.value().length(); i++) {
            char c = text.value().charAt(i);
            boolean separator = "-({[<".indexOf(c) >= 0 || PythonText.isSpace(c);
            String letter = Character.toString(c);
            out.append(start ? TextMethods.upper(letter) : TextMethods.lower(letter));
            start = separator;
        }
        return text.rewritten(out.toString());
    }

    private static Text indent(Text text, Arguments arguments) {
        Object width = arguments.get(0, "width", 4L);
        Text indentation = width instanceof Text given ? given : Text.of(" ".repeat(spaces(width)));
        boolean blank = arguments.truth(2, "blank", false);
        // Jinja adds a line break first, so that a text that ends with one keeps its empty last line.
        Text whole = new TextBuilder().append(text).append("\n").build();
        List<Object> lines = TextMethods.splitLines(whole, false);
        TextBuilder out = new TextBuilder();
        for (int i = 0; i < lines.size(); i++) {
            Text line = (Text) lines.get(i);
            boolean indented = i == 0
                    ? arguments.truth(1, "first", false)
                    : blank || !line.value().isEmpty();
            out.append(i == 0 ? "" : "\n");
            out.append(indented ? indentation : Text.EMPTY).append(line);
        }
        return out.build();
    }

    private static int spaces(Object width) {
        if (width instanceof Long number && number <= 1000) {
            return (int) Math.max(0, number);
        }
        throw new OperationException("Invalid argument 'width' of filter 'indent': at most 1000 spaces or a string");
    }

    private static Object integer(Object value, Arguments arguments) {
        if (arguments.integer(1, "base", 10) != 10) {
            throw new OperationException("Unsupported argument 'base' of filter 'int'");
        }
        if (value instanceof BigInteger) {
            return value;
        }
        if (Numbers.isInteger(value)) {
            return Numbers.integer(value);
        }
        if (value instanceof Text text) {
            String digits = stripped(text);
            if (INTEGER.matcher(digits).matches()) {
                return Long.valueOf(digits);
            }
        }
        Object real = real(value, Arguments.of("filter 'int'", List.of(None.NONE)));
        boolean whole = real instanceof Double number && Math.abs(number) < 0x1p63;
        return whole ? (Object) ((Double) real).longValue() : arguments.get(0, "default", 0L);
    }

    private static Object real(Object value, Arguments arguments) {
        if (Numbers.isNumber(value)) {
            return Numbers.real(value);
        }
        if (value instanceof Text text && REAL.matcher(stripped(text)).matches()) {
            return Double.valueOf(stripped(text));
        }
        return arguments.get(0, "default", 0.0);
    }

    private static String stripped(Text text) {
        String value = text.value();
        int start = PythonText.stripStart(value, 0, value.length());
        return value.substring(start, PythonText.stripEnd(value, start, value.length()));
    }

    private static Object absolute(Object value) {
        if (value instanceof Double number) {
            return Math.abs(number);
        }
        if (Numbers.isInteger(value)) {
            long number = Numbers.integer(value);
            return number < 0 ? Numbers.calculate("-", 0L, number) : number;
        }
        throw Operators.mismatch("abs", value);
    }

    private static Object round(Object value, Arguments arguments) {
        if (!Numbers.isNumber(value)) {
            throw Operators.mismatch("round", value);
        }
        int precision = arguments.integer(0, "precision", 0);
        RoundingMode mode =
                switch (arguments.text(1, "method", Text.of("common")).value()) {
                    case "common" -> RoundingMode.HALF_EVEN;
                    case "ceil" -> RoundingMode.CEILING;
                    case "floor" -> RoundingMode.FLOOR;
                    default -> throw new OperationException("Invalid argument 'method' of filter 'round'");
                };
        if (Math.abs(precision) > 300) {
            throw new OperationException("Invalid argument 'precision' of filter 'round': at most 300 digits");
        }
        double number = Numbers.real(value);
        if (Double.isNaN(number) || Double.isInfinite(number)) {
            return number;
        }
        double rounded = new BigDecimal(number).setScale(precision, mode).doubleValue();
        boolean staysInteger = Numbers.isInteger(value) && mode == RoundingMode.HALF_EVEN;
        return staysInteger ? (Object) (long) rounded : Math.copySign(rounded, number);
    }
}
