package io.bellows.text.jinja;

import java.util.List;

/** The tokens of a template, read one after another. */
final class TokenStream {

    private static final int MAX_DEPTH = 100;

    private final List<Token> tokens;
    private int at;
    private int depth;

    TokenStream(List<Token> tokens) {
        this.tokens = tokens;
    }

    Token current() {
        return tokens.get(at);
    }

    Token lookAhead() {
        return tokens.get(Math.min(at + 1, tokens.size() - 1));
    }

    int position() {
        return at;
    }

    /** Whether a name occurs between an earlier position and here. */
    boolean mentions(String name, int from) {
        return tokens.subList(from, at).stream().anyMatch(token -> token.isName(name));
    }

    int line() {
        return current().line();
    }

    Token next() {
        Token token = current();
        if (token.kind() != Token.Kind.END) {
            at++;
        }
        return token;
    }

    boolean skip(String operator) {
        boolean found = current().is(operator);
        if (found) {
            at++;
        }
        return found;
    }

    boolean skipName(String name) {
        boolean found = current().isName(name);
        if (found) {
            at++;
        }
        return found;
    }

    void expect(String operator) {
        if (!skip(operator)) {
            throw failure("Invalid syntax: expected '" + operator + "', not "
                    + current().shown());
        }
    }

    Token expect(Token.Kind kind, String what) {
        if (current().kind() != kind) {
            throw failure(
                    "Invalid syntax: expected " + what + ", not " + current().shown());
        }
        return next();
    }

    /** Reads items between commas, of which one may be too many, and the closing bracket. */
    void readItems(String close, Runnable item) {
        boolean first = true;
        while (!skip(close)) {
            if (!first) {
                expect(",");
                if (skip(close)) {
                    return;
                }
            }
            first = false;
            item.run();
        }
    }

    String expectName() {
        return expect(Token.Kind.NAME, "a name").text();
    }

    TemplateException failure(String problem) {
        return new TemplateException(problem, line());
    }

    /** Counts nesting, so that a hostile template runs out of depth before the stack does. */
    void enter() {
        if (++depth > MAX_DEPTH) {
            throw failure("Cannot read the template: it nests more than " + MAX_DEPTH + " deep");
        }
    }

    void leave() {
        depth--;
    }
}
