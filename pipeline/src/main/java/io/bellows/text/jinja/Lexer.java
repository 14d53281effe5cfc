package io.bellows.text.jinja;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Cuts a template into tokens. White space goes as Hugging Face sets it, {@code trim_blocks} and {@code lstrip_blocks}
 * on: the line break behind a tag and the blanks before one that begins its line belong to the tag; {@code -} at either
 * end of a tag takes all white space there, {@code +} takes none.
 */
final class Lexer {

    private static final List<String> OPERATORS = List.of(
            "//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[", "]", "(", ")", "{", "}", ">", "<",
            "=", ".", ":", "|", ",", ";");

    private final String source;
    private final List<Token> tokens = new ArrayList<>();
    private int at;
    private int line = 1;
    private int lineCounted; // position up to which line breaks are counted
    private boolean lineStarting = true; // the last thing read ended with a line break

    private Lexer(String source) {
        String normalized = source.replace("\r\n", "\n").replace('\r', '\n');
        this.source = normalized.endsWith("\n") ? normalized.substring(0, normalized.length() - 1) : normalized;
    }

    static List<Token> tokens(String source) {
        return new Lexer(source).read();
    }

    private List<Token> read() {
        while (at < source.length()) {
            int tag = nextTag();
            if (tag < 0) {
                data(source.substring(at));
                at = source.length();
            } else {
                openTag(tag);
            }
        }
        add(Token.Kind.END, "");
        return tokens;
    }

    private int nextTag() {
        for (int i = source.indexOf('{', at); i >= 0 && i + 1 < source.length(); i = source.indexOf('{', i + 1)) {
            char kind = source.charAt(i + 1);
            if (kind == '{' || kind == '%' || kind == '#') {
                return i;
            }
        }
        return -1;
    }

    private void openTag(int tag) {
        char kind = source.charAt(tag + 1);
        char sign = tag + 2 < source.length() ? source.charAt(tag + 2) : ' ';
        boolean signed = sign == '-' || sign == '+';
        dataBefore(source.substring(at, tag), signed ? sign : ' ', kind == '{');
        at = tag + (signed ? 3 : 2);
        countLines();
        lineStarting = false;
        switch (kind) {
            case '#' -> comment();
            case '{' -> inside(Token.Kind.EXPRESSION_BEGIN, "}}", Token.Kind.EXPRESSION_END);
            default -> {
                if (!raw(tag)) {
                    inside(Token.Kind.TAG_BEGIN, "%}", Token.Kind.TAG_END);
                }
            }
        }
    }

    /** The text before a tag, less the white space that the tag takes. */
    private void dataBefore(String text, char sign, boolean expression) {
        if (sign == '-') {
            data(text.substring(0, PythonText.stripEnd(text, 0, text.length())));
            return;
        }
        int lineStart = text.lastIndexOf('\n') + 1;
        boolean takesBlanks = sign != '+'
                && !expression
                && (lineStart > 0 || lineStarting)
                && PythonText.stripEnd(text, lineStart, text.length()) == lineStart;
        data(takesBlanks ? text.substring(0, lineStart) : text);
    }

    private void data(String text) {
        if (!text.isEmpty()) {
            add(Token.Kind.DATA, text);
        }
    }

    private void comment() {
        int end = source.indexOf("#}", at);
        if (end < 0) {
            throw failure("Invalid comment: '{#' has no '#}'");
        }
        boolean minus = end > at && source.charAt(end - 1) == '-';
        boolean plus = end > at && source.charAt(end - 1) == '+';
        close(end + 2, minus, !plus);
    }

    /** Moves behind the end of a tag and the white space it takes. */
    private void close(int end, boolean takesAll, boolean takesLineBreak) {
        at = end;
        if (takesAll) {
            while (at < source.length() && PythonText.isSpace(source.charAt(at))) {
                at++;
            }
        } else if (takesLineBreak && at < source.length() && source.charAt(at) == '\n') {
            at++;
        }
        lineStarting = source.charAt(at - 1) == '\n';
        countLines();
    }

    /** Reads {@code {% raw %}…{% endraw %}} if that is what stands here. */
    private boolean raw(int tag) {
        int end = tagWithName(tag, "raw");
        if (end < 0) {
            return false;
        }
        close(end, source.charAt(end - 3) == '-', false);
        for (int close = source.indexOf("{%", at); close >= 0; close = source.indexOf("{%", close + 2)) {
            int after = tagWithName(close, "endraw");
            if (after >= 0) {
                char sign = source.charAt(close + 2);
                dataBefore(source.substring(at, close), sign == '-' || sign == '+' ? sign : ' ', false);
                close(after, source.charAt(after - 3) == '-', source.charAt(after - 3) != '+');
                return true;
            }
        }
        throw failure("Invalid tag 'raw': it has no 'endraw'");
    }

    /** The end of the tag at {@code tag} if it holds just this name, or -1. */
    private int tagWithName(int tag, String name) {
        int i = tag + 2;
        if (i < source.length() && (source.charAt(i) == '-' || source.charAt(i) == '+')) {
            i++;
        }
        i = PythonText.stripStart(source, i, source.length());
        if (!source.startsWith(name, i)) {
            return -1;
        }
        i = PythonText.stripStart(source, i + name.length(), source.length());
        if (i < source.length() && (source.charAt(i) == '-' || (source.charAt(i) == '+' && name.equals("endraw")))) {
            i++;
        }
        return source.startsWith("%}", i) ? i + 2 : -1;
    }

    private void inside(Token.Kind begin, String end, Token.Kind endKind) {
        add(begin, "");
        Deque<Character> open = new ArrayDeque<>();
        while (true) {
            at = PythonText.stripStart(source, at, source.length());
            countLines();
            if (at >= source.length()) {
                throw failure("Invalid template: a tag has no '" + end + "'");
            }
            if (open.isEmpty() && closes(end, endKind)) {
                return;
            }
            char c = source.charAt(at);
            if (c == '\'' || c == '"') {
                string(c);
            } else if (c >= '0' && c <= '9') {
                number();
            } else if (Character.isUnicodeIdentifierStart(c) || c == '_') {
                name();
            } else {
                operator(open);
            }
        }
    }

    private boolean closes(String end, Token.Kind endKind) {
        char sign = source.charAt(at);
        boolean tag = endKind == Token.Kind.TAG_END;
        boolean signed = sign == '-' || (sign == '+' && tag);
        if (!source.startsWith(end, signed ? at + 1 : at)) {
            return false;
        }
        add(endKind, "");
        close(at + (signed ? 3 : 2), sign == '-', tag && sign != '+');
        return true;
    }

    private void name() {
        int start = at;
        while (at < source.length()
                && (Character.isUnicodeIdentifierPart(source.charAt(at)) || source.charAt(at) == '_')) {
            at++;
        }
        add(Token.Kind.NAME, source.substring(start, at));
    }

    private void number() {
        int start = at;
        if (source.charAt(at) == '0' && at + 1 < source.length() && "xXoObB".indexOf(source.charAt(at + 1)) >= 0) {
            throw failure("Unsupported number '" + source.substring(at, at + 2) + "…': write it in decimal");
        }
        digits();
        boolean real = false;
        if (at + 1 < source.length() && source.charAt(at) == '.' && isDigit(at + 1)) {
            real = true;
            at++;
            digits();
        }
        int exponent = at < source.length() && (source.charAt(at) == 'e' || source.charAt(at) == 'E') ? at + 1 : -1;
        if (exponent > 0) {
            int first =
                    exponent < source.length() && "+-".indexOf(source.charAt(exponent)) >= 0 ? exponent + 1 : exponent;
            if (isDigit(first)) {
                real = true;
                at = first;
                digits();
            }
        }
        add(
                real ? Token.Kind.FLOAT : Token.Kind.INTEGER,
                source.substring(start, at).replace("_", ""));
    }

    private void digits() {
        while (isDigit(at) || (at < source.length() && source.charAt(at) == '_' && isDigit(at + 1))) {
            at++;
        }
    }

    private boolean isDigit(int index) {
        return index < source.length() && source.charAt(index) >= '0' && source.charAt(index) <= '9';
    }

    private void string(char quote) {
        int end = at + 1;
        while (end < source.length() && source.charAt(end) != quote) {
            end += source.charAt(end) == '\\' ? 2 : 1;
        }
        if (end >= source.length()) {
            throw failure("Invalid string: it has no closing " + quote);
        }
        try {
            add(Token.Kind.STRING, PythonText.unescape(source.substring(at + 1, end)));
        } catch (OperationException e) {
            throw failure(e.getMessage());
        }
        at = end + 1;
        countLines();
    }

    private void operator(Deque<Character> open) {
        for (String operator : OPERATORS) {
            if (source.startsWith(operator, at)) {
                balance(operator.charAt(0), open);
                add(Token.Kind.OPERATOR, operator);
                at += operator.length();
                return;
            }
        }
        throw failure("Invalid character '" + Character.toString(source.codePointAt(at)) + "' in a tag");
    }

    private void balance(char operator, Deque<Character> open) {
        switch (operator) {
            case '(' -> open.push(')');
            case '[' -> open.push(']');
            case '{' -> open.push('}');
            case ')', ']', '}' -> {
                if (open.isEmpty() || open.pop() != operator) {
                    throw failure("Invalid bracket '" + operator + "': it closes nothing");
                }
            }
            default -> {}
        }
    }

    private void add(Token.Kind kind, String text) {
        tokens.add(new Token(kind, text, line));
    }

    private void countLines() {
        for (; lineCounted < at; lineCounted++) {
            if (source.charAt(lineCounted) == '\n') {
                line++;
            }
        }
    }

    private TemplateException failure(String problem) {
        return new TemplateException(problem, line);
    }
}
