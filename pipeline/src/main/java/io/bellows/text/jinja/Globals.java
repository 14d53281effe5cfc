package io.bellows.text.jinja;

import java.time.Clock;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.TextStyle;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The functions every chat template can call. */
final class Globals {

    private static final int MAX_RANGE = 100_000; // Jinja's own bound in its sandbox

    private Globals() {}

    static Map<String, Object> functions(Clock clock) {
        Map<String, Object> functions = new HashMap<>();
        functions.put("raise_exception", (Callable) Globals::raise);
        functions.put("strftime_now", (Callable) arguments -> {
            arguments.allow("format");
            return Text.of(time(arguments.text(0, "format").value(), LocalDateTime.now(clock)));
        });
        functions.put("range", (Callable) Globals::range);
        functions.put("namespace", (Callable) Globals::namespace);
        functions.put("dict", (Callable) Globals::dict);
        for (String name : List.of("cycler", "joiner", "lipsum")) {
            functions.put(name, (Callable) arguments -> {
                throw new OperationException("Unsupported function '" + name + "'");
            });
        }
        return functions;
    }

    private static Object raise(Arguments arguments) {
        arguments.allow("message");
        throw new OperationException(
                "Cannot render the conversation: " + Printing.text(arguments.require(0, "message")));
    }

    private static Object range(Arguments arguments) {
        arguments.allow("start", "stop", "step");
        long first = integer(arguments.require(0, "start"));
        boolean one = arguments.positional().size() == 1;
        long start = one ? 0 : first;
        long stop = one ? first : integer(arguments.require(1, "stop"));
        long step = integer(arguments.get(2, "step", 1L));
        if (step == 0) {
            throw new OperationException("Cannot make a range with step 0");
        }
        List<Object> items = new ArrayList<>();
        for (long i = start; step > 0 ? i < stop : i > stop; i = Math.addExact(i, step)) {
            if (items.size() == MAX_RANGE) {
                throw new OperationException("Cannot make a range of more than " + MAX_RANGE + " numbers");
            }
            items.add(i);
        }
        return new Range(items);
    }

    private static long integer(Object value) {
        if (!Numbers.isInteger(value)) {
            throw new OperationException("Cannot make a range of a " + Types.name(value));
        }
        return Numbers.integer(value);
    }

    private static Object namespace(Arguments arguments) {
        Namespace namespace = new Namespace();
        entries(arguments)
                .forEach((key, value) -> namespace.set(Printing.text(key).value(), value));
        return namespace;
    }

    private static Object dict(Arguments arguments) {
        return entries(arguments);
    }

    private static Map<Object, Object> entries(Arguments arguments) {
        Map<Object, Object> entries = new LinkedHashMap<>();
        for (Object given : arguments.positional()) {
            if (!(given instanceof Map<?, ?> map) || arguments.positional().size() > 1) {
                throw new OperationException(
                        "Unsupported arguments of " + arguments.callee() + ": one dict and named values are");
            }
            entries.putAll(map);
        }
        arguments.named().forEach((key, value) -> entries.put(Text.of(key), value));
        return entries;
    }

    /** C's {@code strftime} in the C locale. */
    private static String time(String format, LocalDateTime time) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < format.length(); i++) {
            char c = format.charAt(i);
            if (c != '%') {
                out.append(c);
            } else if (++i < format.length()) {
                boolean unpadded = format.charAt(i) == '-' && i + 1 < format.length();
                String field = field(format.charAt(unpadded ? ++i : i), time);
                out.append(unpadded ? withoutZeros(field) : field);
            }
        }
        return out.toString();
    }

    private static String field(char directive, LocalDateTime time) {
        return switch (directive) {
            case 'Y' -> Integer.toString(time.getYear());
            case 'y' -> pattern("yy", time);
            case 'm' -> pattern("MM", time);
            case 'd' -> pattern("dd", time);
            case 'H' -> pattern("HH", time);
            case 'I' -> pattern("hh", time);
            case 'M' -> pattern("mm", time);
            case 'S' -> pattern("ss", time);
            case 'j' -> pattern("DDD", time);
            case 'f' -> pattern("SSSSSS", time);
            case 'p' -> time.getHour() < 12 ? "AM" : "PM";
            case 'B' -> time.getMonth().getDisplayName(TextStyle.FULL, Locale.ENGLISH);
            case 'b', 'h' -> time.getMonth().getDisplayName(TextStyle.SHORT, Locale.ENGLISH);
            case 'A' -> time.getDayOfWeek().getDisplayName(TextStyle.FULL, Locale.ENGLISH);
            case 'a' -> time.getDayOfWeek().getDisplayName(TextStyle.SHORT, Locale.ENGLISH);
            case 'e' -> String.format(Locale.ENGLISH, "%2d", time.getDayOfMonth());
            case 'F' -> pattern("yyyy-MM-dd", time);
            case 'T' -> pattern("HH:mm:ss", time);
            case 'D' -> pattern("MM/dd/yy", time);
            case 'n' -> "\n";
            case 't' -> "\t";
            case '%' -> "%";
            default -> throw new OperationException("Unsupported directive '%" + directive + "' of strftime_now");
        };
    }

    private static String pattern(String pattern, LocalDateTime time) {
        return DateTimeFormatter.ofPattern(pattern, Locale.ENGLISH).format(time);
    }

    private static String withoutZeros(String field) {
        String stripped = field.stripLeading();
        int at = 0;
        while (at < stripped.length() - 1 && stripped.charAt(at) == '0') {
            at++;
        }
        return stripped.substring(at);
    }
}
