package io.bellows.text.jinja;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.IntPredicate;

/** Python's methods of strings. */
final class TextMethods {

    private static final Set<String> UNSUPPORTED = Set.of(
            "casefold",
            "center",
            "encode",
            "expandtabs",
            "format",
            "format_map",
            "isascii",
            "isdecimal",
            "isidentifier",
            "isnumeric",
            "isprintable",
            "istitle",
            "ljust",
            "maketrans",
            "partition",
            "rindex",
            "rjust",
            "rpartition",
            "swapcase",
            "translate",
            "zfill");

    private TextMethods() {}

    /** The method of a name, or null if strings have none of it. */
    static Callable find(Text text, String name) {
        return switch (name) {
            case "strip" -> arguments -> strip(text, arguments.allow("chars"), true, true);
            case "lstrip" -> arguments -> strip(text, arguments.allow("chars"), true, false);
            case "rstrip" -> arguments -> strip(text, arguments.allow("chars"), false, true);
            case "startswith" -> arguments -> affix(text, arguments.allow("prefix"), "prefix");
            case "endswith" -> arguments -> affix(text, arguments.allow("suffix"), "suffix");
            case "removeprefix" ->
                arguments -> withoutPrefix(text, arguments.allow("prefix").text(0, "prefix"));
            case "removesuffix" ->
                arguments -> withoutSuffix(text, arguments.allow("suffix").text(0, "suffix"));
            case "split" ->
                arguments -> {
                    arguments.allow("sep", "maxsplit");
                    return split(text, arguments.text(0, "sep", null), arguments.integer(1, "maxsplit", -1));
                };
            case "rsplit" ->
                arguments -> {
                    arguments.allow("sep", "maxsplit");
                    return splitFromEnd(text, arguments.text(0, "sep", null), arguments.integer(1, "maxsplit", -1));
                };
            case "splitlines" ->
                arguments -> splitLines(text, arguments.allow("keepends").truth(0, "keepends", false));
            case "replace" ->
                arguments -> {
                    arguments.allow("old", "new", "count");
                    return replace(
                            text,
                            arguments.text(0, "old"),
                            arguments.text(1, "new"),
                            arguments.integer(2, "count", -1));
                };
            case "join" -> arguments -> join(text, arguments.allow("iterable").require(0, "iterable"));
            case "find" -> arguments -> find(text, arguments.allow("sub").text(0, "sub"), false);
            case "rfind" -> arguments -> find(text, arguments.allow("sub").text(0, "sub"), true);
            case "index" ->
                arguments -> {
                    long index = find(text, arguments.allow("sub").text(0, "sub"), false);
                    if (index < 0) {
                        throw new OperationException("Cannot find the substring");
                    }
                    return index;
                };
            case "count" -> arguments -> count(text, arguments.allow("sub").text(0, "sub"));
            default -> charactersMethod(text, name);
        };
    }

    private static Callable charactersMethod(Text text, String name) {
        String value = text.value();
        return switch (name) {
            case "upper" -> rewriting(text, upper(value));
            case "lower" -> rewriting(text, lower(value));
            case "title" -> rewriting(text, title(value));
            case "capitalize" -> rewriting(text, capitalize(value));
            case "isdigit" -> all(value, c -> Character.getType(c) == Character.DECIMAL_DIGIT_NUMBER);
            case "isalpha" -> all(value, Character::isLetter);
            case "isalnum" -> all(value, Character::isLetterOrDigit);
            case "isspace" -> all(value, c -> c <= Character.MAX_VALUE && PythonText.isSpace((char) c));
            case "isupper" -> arguments -> Tests.isUpper(text.value());
            case "islower" -> arguments -> Tests.isLower(text.value());
            default -> {
                if (UNSUPPORTED.contains(name)) {
                    throw new OperationException("Unsupported method '" + name + "' of a str");
                }
                yield null;
            }
        };
    }

    private static Callable rewriting(Text text, String changed) {
        return arguments -> {
            arguments.allow();
            return text.rewritten(changed);
        };
    }

    private static Callable all(String value, IntPredicate condition) {
        return arguments -> {
            arguments.allow();
            return !value.isEmpty() && value.codePoints().allMatch(condition);
        };
    }

    static String upper(String value) {
        return value.toUpperCase(Locale.ROOT);
    }

    static String lower(String value) {
        return value.toLowerCase(Locale.ROOT);
    }

    private static String capitalize(String value) {
        if (value.isEmpty()) {
            return value;
        }
        int first = value.offsetByCodePoints(0, 1);
        return titled(value.substring(0, first))
                + lower(value).substring(lower(value.substring(0, first)).length());
    }

    private static String title(String value) {
        StringBuilder out = new StringBuilder(value.length());
        boolean insideWord = false;
        for (int at = 0; at < value.length(); ) {
            int next = value.offsetByCodePoints(at, 1);
            String character = value.substring(at, next);
            int codePoint = value.codePointAt(at);
            out.append(insideWord ? lower(character) : titled(character));
            insideWord = Character.isUpperCase(codePoint)
                    || Character.isLowerCase(codePoint)
                    || Character.isTitleCase(codePoint);
            at = next;
        }
        return out.toString();
    }

    private static String titled(String character) {
        int codePoint = character.codePointAt(0);
        int title = Character.toTitleCase(codePoint);
        // Characters whose capital is two letters have no title case of their own: sharp s becomes Ss.
        String upper = upper(character);
        if (title != codePoint || upper.codePointCount(0, upper.length()) == 1) {
            return Character.toString(title);
        }
        int first = upper.offsetByCodePoints(0, 1);
        return upper.substring(0, first) + lower(upper.substring(first));
    }

    static Text strip(Text text, Arguments arguments, boolean left, boolean right) {
        Text characters = arguments.text(0, "chars", null);
        String value = text.value();
        IntPredicate stripped = characters == null
                ? c -> c <= Character.MAX_VALUE && PythonText.isSpace((char) c)
                : c -> characters.value().indexOf(c) >= 0;
        int start = 0;
        int end = value.length();
        while (left && start < end && stripped.test(value.codePointAt(start))) {
            start = value.offsetByCodePoints(start, 1);
        }
        while (right && end > start && stripped.test(value.codePointBefore(end))) {
            end = value.offsetByCodePoints(end, -1);
        }
        return text.substring(start, end);
    }

    private static boolean affix(Text text, Arguments arguments, String name) {
        Object wanted = arguments.require(0, name);
        if (wanted instanceof Tuple tuple) {
            return tuple.items().stream()
                    .anyMatch(one -> affix(text, Arguments.of(arguments.callee(), List.of(one)), name));
        }
        String affix = arguments.text(0, name).value();
        return name.equals("prefix")
                ? text.value().startsWith(affix)
                : text.value().endsWith(affix);
    }

    private static Text withoutPrefix(Text text, Text prefix) {
        boolean has = text.value().startsWith(prefix.value());
        return text.substring(has ? prefix.value().length() : 0, text.value().length());
    }

    private static Text withoutSuffix(Text text, Text suffix) {
        boolean has = text.value().endsWith(suffix.value());
        return text.substring(0, text.value().length() - (has ? suffix.value().length() : 0));
    }

    /** Python's {@code split}; a null separator is any white space. */
    static List<Object> split(Text text, Text separator, int max) {
        List<Object> parts = new ArrayList<>();
        String value = text.value();
        if (separator == null) {
            int at = PythonText.stripStart(value, 0, value.length());
            while (at < value.length()) {
                int end = max >= 0 && parts.size() == max ? value.length() : endOfWord(value, at);
                parts.add(text.substring(at, end));
                at = PythonText.stripStart(value, end, value.length());
            }
            return parts;
        }
        checkSeparator(separator);
        int at = 0;
        for (int next = value.indexOf(separator.value());
                next >= 0 && (max < 0 || parts.size() < max);
                next = value.indexOf(separator.value(), at)) {
            Sequences.checkSize(parts.size() + 2L);
            parts.add(text.substring(at, next));
            at = next + separator.value().length();
        }
        parts.add(text.substring(at, value.length()));
        return parts;
    }

    private static int endOfWord(String value, int start) {
        int at = start;
        while (at < value.length() && !PythonText.isSpace(value.charAt(at))) {
            at++;
        }
        return at;
    }

    private static List<Object> splitFromEnd(Text text, Text separator, int max) {
        if (max < 0) {
            return split(text, separator, max);
        }
        if (separator == null) {
            throw new OperationException("Unsupported method 'rsplit' with a limit and no separator");
        }
        checkSeparator(separator);
        List<Object> parts = new ArrayList<>();
        int end = text.value().length();
        while (parts.size() < max) {
            int at = end - separator.value().length();
            int found = at < 0 ? -1 : text.value().lastIndexOf(separator.value(), at);
            if (found < 0) {
                break;
            }
            parts.add(0, text.substring(found + separator.value().length(), end));
            end = found;
        }
        parts.add(0, text.substring(0, end));
        return parts;
    }

    private static void checkSeparator(Text separator) {
        if (separator.value().isEmpty()) {
            throw new OperationException("Cannot split at an empty separator");
        }
    }

    static List<Object> splitLines(Text text, boolean keepEnds) {
        List<Object> lines = new ArrayList<>();
        String value = text.value();
        int at = 0;
        while (at < value.length()) {
            int end = at;
            while (end < value.length() && !PythonText.isLineBreak(value.charAt(end))) {
                end++;
            }
            int next = value.startsWith("\r\n", end) ? end + 2 : Math.min(end + 1, value.length());
            Sequences.checkSize(lines.size() + 1L);
            lines.add(text.substring(at, keepEnds ? next : end));
            at = next;
        }
        return lines;
    }

    static Text replace(Text text, Text old, Text with, int max) {
        TextBuilder out = new TextBuilder();
        String value = text.value();
        int at = 0;
        int replaced = 0;
        int next = value.indexOf(old.value());
        while (next >= 0 && (max < 0 || replaced < max)) {
            out.append(text.substring(at, next)).append(with);
            at = next + old.value().length();
            replaced++;
            if (!old.value().isEmpty()) {
                next = value.indexOf(old.value(), at);
            } else if (at < value.length()) {
                next = value.offsetByCodePoints(at, 1); // an empty text stands between all characters
            } else {
                break;
            }
        }
        return out.append(text.substring(at, value.length())).build();
    }

    private static Text join(Text separator, Object items) {
        TextBuilder out = new TextBuilder();
        boolean first = true;
        for (Object item : Sequences.items(items)) {
            if (!(item instanceof Text text)) {
                throw new OperationException("Cannot join a " + Types.name(item) + ": str is needed");
            }
            out.append(first ? Text.EMPTY : separator).append(text);
            first = false;
        }
        return out.build();
    }

    private static long find(Text text, Text part, boolean last) {
        int at = last ? text.value().lastIndexOf(part.value()) : text.value().indexOf(part.value());
        return at < 0 ? -1 : text.value().codePointCount(0, at);
    }

    private static long count(Text text, Text part) {
        if (part.value().isEmpty()) {
            return text.length() + 1L;
        }
        long count = 0;
        for (int at = text.value().indexOf(part.value());
                at >= 0;
                at = text.value().indexOf(part.value(), at + part.value().length())) {
            count++;
        }
        return count;
    }
}
