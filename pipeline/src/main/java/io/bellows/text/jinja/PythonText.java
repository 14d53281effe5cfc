package io.bellows.text.jinja;

/** Python's view of characters and string literals. */
final class PythonText {

    private PythonText() {}

    /** Python's {@code str.isspace} of one character. */
    static boolean isSpace(char c) {
        return (c >= '\t' && c <= '\r')
                || (c >= 0x1c && c <= ' ')
                || c == 0x85
                || (c >= 0xa0 && Character.isSpaceChar(c));
    }

    /** The first position in {@code [start, end)} that is no white space, or {@code end}. */
    static int stripStart(String text, int start, int end) {
        int at = start;
        while (at < end && isSpace(text.charAt(at))) {
            at++;
        }
        return at;
    }

    /** The position behind the last character in {@code [start, end)} that is no white space, or {@code start}. */
    static int stripEnd(String text, int start, int end) {
        int at = end;
        while (at > start && isSpace(text.charAt(at - 1))) {
            at--;
        }
        return at;
    }

    /** Whether {@code str.splitlines} breaks at a character. */
    static boolean isLineBreak(char c) {
        return (c >= '\n' && c <= '\r') || (c >= 0x1c && c <= 0x1e) || c == 0x85 || c == 0x2028 || c == 0x2029;
    }

    /** What a string literal means. */
    static String unescape(String literal) {
        if (literal.indexOf('\\') < 0) {
            return literal;
        }
        StringBuilder out = new StringBuilder(literal.length());
        int at = 0;
        while (at < literal.length()) {
            char c = literal.charAt(at++);
            if (c != '\\') {
                out.append(c);
            } else {
                at = unescapeOne(literal, at, out);
            }
        }
        return out.toString();
    }

    private static int unescapeOne(String literal, int at, StringBuilder out) {
        char c = literal.charAt(at);
        switch (c) {
            case '\n' -> {}
            case '\\', '\'', '"' -> out.append(c);
            case 'a' -> out.append('\u0007');
            case 'b' -> out.append('\b');
            case 'f' -> out.append('\f');
            case 'n' -> out.append('\n');
            case 'r' -> out.append('\r');
            case 't' -> out.append('\t');
            case 'v' -> out.append('\u000b');
            case 'x' -> {
                return hex(literal, at + 1, 2, out);
            }
            case 'u' -> {
                return hex(literal, at + 1, 4, out);
            }
            case 'U' -> {
                return hex(literal, at + 1, 8, out);
            }
            case 'N' -> throw new OperationException("Unsupported escape '\\N' in a string");
            case '0', '1', '2', '3', '4', '5', '6', '7' -> {
                return octal(literal, at, out);
            }
            default -> out.append('\\').append(c);
        }
        return at + 1;
    }

    private static int hex(String literal, int at, int digits, StringBuilder out) {
        String hex = literal.substring(at, Math.min(literal.length(), at + digits));
        int value = 0;
        for (int i = 0; i < digits; i++) {
            int digit = i < hex.length() ? Character.digit(hex.charAt(i), 16) : -1;
            value = value * 16 + digit;
            if (digit < 0 || value > Character.MAX_CODE_POINT) {
                throw new OperationException("Invalid escape in a string: '" + hex + "' is no character code");
            }
        }
        out.appendCodePoint(value);
        return at + digits;
    }

    private static int octal(String literal, int start, StringBuilder out) {
        int at = start;
        int value = 0;
        while (at < literal.length() && at < start + 3 && literal.charAt(at) >= '0' && literal.charAt(at) <= '7') {
            value = value * 8 + literal.charAt(at++) - '0';
        }
        out.append((char) value);
        return at;
    }
}
