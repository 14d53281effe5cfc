package io.bellows.udfs.reward;

import java.math.BigDecimal;
import java.util.Optional;

/**
 * Reads numbers as people and models write them: {@code -1,234.50}, {@code $18}, {@code 50%}, {@code 1.2e3}, {@code 42.}.
 *
 * <p>Nothing is calculated, so {@code 3/4} or {@code 9^9} is no number. Digits and exponents are bounded before a number
 * is built, so that no text can make the comparison expensive. Every method is linear in the length of the text.
 */
final class NumberText {

    private static final int MAX_DIGITS = 1_000;
    private static final int MAX_EXPONENT_DIGITS = 3;

    private NumberText() {}

    /** The only number of a text that is nothing but a number, its decoration (currency, emphasis) and a unit without digits. */
    static Optional<BigDecimal> whole(String text) {
        Token token = next(text, 0);
        if (token == null) {
            return Optional.empty();
        }
        int signs = 0;
        boolean negative = false;
        for (int i = 0; i < token.start(); i++) {
            char c = text.charAt(i);
            if (isSign(c)) {
                signs++;
                negative = isMinus(c);
            } else if (!isDecoration(c)) {
                return Optional.empty();
            }
        }
        if (signs > 1 || next(text, token.end()) != null) {
            return Optional.empty();
        }
        return value(text, token, negative);
    }

    /** The last number of a text, with its sign where the sign is not an operator between two operands. */
    static Optional<BigDecimal> last(String text) {
        Token last = null;
        for (Token token = next(text, 0); token != null; token = next(text, token.end())) {
            last = token;
        }
        return last == null ? Optional.empty() : value(text, last, isNegated(text, last.start()));
    }

    private static Optional<BigDecimal> value(String text, Token token, boolean negative) {
        String digits = text.substring(token.start(), token.exponent()).replace(",", "");
        int exponentDigits = Math.max(0, token.end() - token.exponent() - 1);
        if (digits.length() > MAX_DIGITS || exponentDigits > MAX_EXPONENT_DIGITS + 1) {
            return Optional.empty();
        }
        BigDecimal value = new BigDecimal(digits + text.substring(token.exponent(), token.end()));
        return Optional.of(negative ? value.negate() : value);
    }

    /** Positions of a number without its sign: digits and separators up to {@code exponent}, an exponent up to {@code end}. */
    private record Token(int start, int exponent, int end) {}

    private static Token next(String text, int from) {
        int i = from;
        while (i < text.length() && !startsNumber(text, i)) {
            i++;
        }
        if (i == text.length()) {
            return null;
        }
        int start = i;
        i = digits(text, i);
        if (i > start && i - start <= 3) {
            while (isGroup(text, i)) {
                i += 4;
            }
        }
        if (at(text, i) == '.' && isDigit(at(text, i + 1))) {
            i = digits(text, i + 1);
        }
        return new Token(start, i, exponent(text, i));
    }

    private static boolean startsNumber(String text, int i) {
        return isDigit(text.charAt(i)) || (text.charAt(i) == '.' && isDigit(at(text, i + 1)));
    }

    /** A comma with exactly three digits behind it; "1,2345" and "1,23" are not grouped numbers. */
    private static boolean isGroup(String text, int i) {
        return at(text, i) == ',' && digits(text, i + 1) == i + 4;
    }

    private static int exponent(String text, int i) {
        if (at(text, i) != 'e' && at(text, i) != 'E') {
            return i;
        }
        int first = isAsciiSign(at(text, i + 1)) ? i + 2 : i + 1;
        int end = digits(text, first);
        return end == first ? i : end;
    }

    private static int digits(String text, int from) {
        int i = from;
        while (isDigit(at(text, i))) {
            i++;
        }
        return i;
    }

    private static boolean isNegated(String text, int start) {
        int sign = start - 1;
        if (isCurrency(at(text, sign))) {
            sign--;
        }
        if (!isMinus(at(text, sign))) {
            return false;
        }
        char before = at(text, isCurrency(at(text, sign - 1)) ? sign - 2 : sign - 1);
        return !Character.isLetterOrDigit(before) && before != ')' && before != ']' && before != '}' && before != '%';
    }

    private static char at(String text, int i) {
        return i >= 0 && i < text.length() ? text.charAt(i) : '\0';
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    private static boolean isAsciiSign(char c) {
        return c == '-' || c == '+';
    }

    private static boolean isMinus(char c) {
        return c == '-' || c == '\u2212';
    }

    private static boolean isSign(char c) {
        return c == '+' || isMinus(c);
    }

    private static boolean isCurrency(char c) {
        return "$€£¥₹".indexOf(c) >= 0;
    }

    private static boolean isDecoration(char c) {
        return Character.isWhitespace(c) || isCurrency(c) || "*_`\"'\\([{=:~≈".indexOf(c) >= 0;
    }
}
