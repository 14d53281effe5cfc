package io.bellows.udfs.reward;

import com.google.re2j.Pattern;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** An answer in mathematics: its LaTeX reduced to plain text, and what that text is made of. */
final class MathAnswer {

    /** How deep lists may lie in lists. */
    private static final int DEEPEST = 8;

    private static final Pattern SIZE = Pattern.compile("\\\\(left|right|big|Big|bigg|Bigg|displaystyle|limits)\\b");
    private static final Pattern SPACING = Pattern.compile("\\\\[!,;: ]|~|\\\\q?quad\\b");
    private static final Pattern DEGREES = Pattern.compile("\\^ *(\\{ *\\\\circ *\\}|\\\\circ\\b)|\\\\degree\\b|°");
    private static final Pattern FRACTION = Pattern.compile("\\\\[dtc]frac\\b");
    private static final Pattern FRACTION_OF_DIGITS = Pattern.compile("\\\\[dtc]frac([0-9])");
    private static final Pattern TIMES = Pattern.compile("\\\\(cdot|times|ast)\\b|[×·⋅]");
    private static final Pattern OVER = Pattern.compile("\\\\div\\b|÷");
    private static final Pattern TEXT =
            Pattern.compile("\\\\(text|textbf|textit|textrm|mathrm|mathbf|mbox|operatorname) *\\{([^{}]*)\\}");
    private static final Pattern SPACE = Pattern.compile("\\s+");
    private static final Pattern NUMBER = Pattern.compile("[+-]?([0-9]{1,300}(\\.[0-9]{0,300})?|\\.[0-9]{1,300})");
    private static final Pattern GROUPED = Pattern.compile("[+-]?[0-9]{1,3}(,[0-9]{3}){1,99}(\\.[0-9]{1,300})?");
    private static final Pattern UNIT = Pattern.compile("( ?[A-Za-z]{2,20})+([/^][A-Za-z0-9]{1,20})?");
    private static final Pattern NAME = Pattern.compile("[A-Za-z](_[A-Za-z0-9])?|[a-z]\\([a-z]\\)");
    private static final Pattern WORDS = Pattern.compile("[\\pL ]{2,}");

    private final String text;

    private MathAnswer(String text) {
        this.text = text;
    }

    /** Reads an answer. */
    static MathAnswer of(String latex) {
        String text = latex.replace("{,}", ",");
        text = replace(SIZE, text, "");
        text = replace(SPACING, text, " ");
        text = replace(DEGREES, text, "");
        text = replace(FRACTION_OF_DIGITS, text, "\\\\frac$1");
        text = replace(FRACTION, text, "\\\\frac");
        text = replace(TIMES, text, "*");
        text = replace(OVER, text, "/");
        text = replace(TEXT, text, " $2 ");
        text = text.replace("\\%", "")
                .replace("%", "")
                .replace("\\$", "")
                .replace("$", "")
                .replace("\\(", "")
                .replace("\\)", "")
                .replace("\\[", "")
                .replace("\\]", "")
                .replace('\u2212', '-')
                .replace("π", "\\pi ")
                .replace("√", "\\sqrt ");
        text = replace(SPACE, text, " ").strip();
        return new MathAnswer(text.endsWith(".") ? text.substring(0, text.length() - 1) : text);
    }

    private static String replace(Pattern pattern, String text, String by) {
        return pattern.matcher(text).replaceAll(by);
    }

    /** Whether both mean the same. */
    boolean isSameAs(MathAnswer other) {
        return same(text, other.text, 0);
    }

    private static boolean same(String a, String b, int depth) {
        if (compact(a).equals(compact(b))) {
            return true;
        }
        if (depth == DEEPEST || a.isBlank() || b.isBlank()) {
            return false;
        }
        BigDecimal first = number(a);
        BigDecimal second = number(b);
        if (first != null && second != null) {
            return first.compareTo(second) == 0;
        }
        if (first != null || second != null) {
            BigDecimal measure = first == null ? measure(a) : measure(b);
            if (measure != null) {
                return measure.compareTo(first == null ? second : first) == 0;
            }
        }
        if (WORDS.matches(a) || WORDS.matches(b)) {
            return compact(a).toLowerCase(Locale.ROOT).equals(compact(b).toLowerCase(Locale.ROOT));
        }
        return sameStructure(a, b, depth);
    }

    private static boolean sameStructure(String a, String b, int depth) {
        List<String> sidesOfA = split(a, '=');
        List<String> sidesOfB = split(b, '=');
        if (sidesOfA.size() == 2 && sidesOfB.size() == 2) {
            return sameInOrder(sidesOfA, sidesOfB, depth) || sameInOrder(sidesOfA, reversed(sidesOfB), depth);
        }
        if (sidesOfA.size() == 2 || sidesOfB.size() == 2) {
            String named = valueOfName(sidesOfA.size() == 2 ? sidesOfA : sidesOfB);
            return named != null && same(named, sidesOfA.size() == 2 ? b : a, depth + 1);
        }
        Listing listOfA = Listing.of(a);
        Listing listOfB = Listing.of(b);
        if (listOfA == null && listOfB == null) {
            return MathExpression.sameValues(a, b);
        }
        return listOfA != null && listOfB != null && listOfA.isSameAs(listOfB, depth);
    }

    private static List<String> reversed(List<String> two) {
        return List.of(two.get(1), two.get(0));
    }

    /** What {@code x} is in {@code x = 5}, or null. */
    private static String valueOfName(List<String> sides) {
        return NAME.matches(compact(sides.get(0))) ? sides.get(1) : null;
    }

    private static boolean sameInOrder(List<String> a, List<String> b, int depth) {
        if (a.size() != b.size()) {
            return false;
        }
        for (int i = 0; i < a.size(); i++) {
            if (!same(a.get(i).strip(), b.get(i).strip(), depth + 1)) {
                return false;
            }
        }
        return true;
    }

    /** Several answers in one: with brackets that mean an order, or without an order. */
    private record Listing(String brackets, List<String> elements) {

        /** At most so many elements are compared without an order, which takes the square of it. */
        private static final int MOST_UNORDERED = 32;

        static Listing of(String text) {
            String inner = text;
            String brackets = "";
            if (text.startsWith("\\{") && text.endsWith("\\}")) {
                inner = text.substring(2, text.length() - 2);
            } else if (text.length() > 1
                    && "([".indexOf(text.charAt(0)) >= 0
                    && ")]".indexOf(text.charAt(text.length() - 1)) >= 0
                    && split(text, ',').size() == 1) {
                brackets = text.substring(0, 1) + text.substring(text.length() - 1);
                inner = text.substring(1, text.length() - 1);
            }
            List<String> elements = split(inner, ',');
            // (x+1) and (x+1)(x-1) are expressions, {5} is a set.
            return elements.size() == 1 && !text.startsWith("\\{") ? null : new Listing(brackets, elements);
        }

        boolean isSameAs(Listing other, int depth) {
            if (!brackets.equals(other.brackets) || elements.size() != other.elements.size()) {
                return false;
            }
            if (!brackets.isEmpty()) {
                return sameInOrder(elements, other.elements, depth);
            }
            if (elements.size() > MOST_UNORDERED) {
                return false;
            }
            List<String> left = new ArrayList<>(other.elements);
            for (String element : elements) {
                int at = indexOf(element, left, depth);
                if (at < 0) {
                    return false;
                }
                left.remove(at);
            }
            return true;
        }

        private static int indexOf(String element, List<String> others, int depth) {
            for (int i = 0; i < others.size(); i++) {
                if (same(element.strip(), others.get(i).strip(), depth + 1)) {
                    return i;
                }
            }
            return -1;
        }
    }

    /** The parts between separators that lie in no brackets. An interval closes with another bracket than it opened with. */
    private static List<String> split(String text, char separator) {
        List<String> parts = new ArrayList<>();
        int depth = 0;
        int start = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if ("([{".indexOf(c) >= 0) {
                depth++;
            } else if (")]}".indexOf(c) >= 0) {
                depth--;
            } else if (c == separator && depth == 0) {
                parts.add(text.substring(start, i));
                start = i + 1;
            }
        }
        parts.add(text.substring(start));
        return parts;
    }

    /** The number of a text that is nothing else, or null. */
    private static BigDecimal number(String text) {
        String plain = compact(text);
        if (GROUPED.matches(plain)) {
            plain = plain.replace(",", "");
        }
        return NUMBER.matches(plain) ? new BigDecimal(plain) : null;
    }

    /** The number of a text that is a number and its unit, or null. */
    private static BigDecimal measure(String text) {
        int end = 0;
        while (end < text.length() && "+-0123456789.,".indexOf(text.charAt(end)) >= 0) {
            end++;
        }
        return UNIT.matches(text.substring(end)) ? number(text.substring(0, end)) : null;
    }

    private static String compact(String text) {
        return text.replace(" ", "");
    }
}
