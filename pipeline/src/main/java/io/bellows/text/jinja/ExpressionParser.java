package io.bellows.text.jinja;

import io.bellows.text.jinja.Expressions.Arithmetic;
import io.bellows.text.jinja.Expressions.Comparison;
import io.bellows.text.jinja.Expressions.Concatenation;
import io.bellows.text.jinja.Expressions.Conditional;
import io.bellows.text.jinja.Expressions.Literal;
import io.bellows.text.jinja.Expressions.Not;
import io.bellows.text.jinja.Expressions.Sign;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Reads expressions, with Jinja's precedence from {@code if … else} down to literals. */
final class ExpressionParser {

    private static final Set<String> COMPARISONS = Set.of("==", "!=", "<", "<=", ">", ">=");
    private static final Set<String> PRODUCTS = Set.of("*", "/", "//", "%");

    private final TokenStream tokens;

    ExpressionParser(TokenStream tokens) {
        this.tokens = tokens;
    }

    /** An expression, in which commas make a tuple. */
    Expression tupleOrExpression() {
        int line = tokens.line();
        Expression first = expression();
        if (!tokens.current().is(",")) {
            return first;
        }
        List<Expression> items = new ArrayList<>(List.of(first));
        while (tokens.skip(",") && !endsTuple()) {
            items.add(expression());
        }
        return new Expressions.TupleLiteral(line, items);
    }

    private boolean endsTuple() {
        Token token = tokens.current();
        return token.is(")")
                || token.kind() == Token.Kind.TAG_END
                || token.kind() == Token.Kind.EXPRESSION_END
                || token.isName("in");
    }

    Expression expression() {
        tokens.enter();
        int line = tokens.line();
        Expression value = withoutCondition();
        while (tokens.skipName("if")) {
            Expression condition = withoutCondition();
            Expression otherwise = tokens.skipName("else") ? expression() : null;
            value = new Conditional(line, value, condition, otherwise);
        }
        tokens.leave();
        return value;
    }

    /** An expression that stops before {@code if}. */
    Expression withoutCondition() {
        int line = tokens.line();
        Expression left = and();
        while (tokens.skipName("or")) {
            left = new Expressions.Or(line, left, and());
        }
        return left;
    }

    private Expression and() {
        int line = tokens.line();
        Expression left = not();
        while (tokens.skipName("and")) {
            left = new Expressions.And(line, left, not());
        }
        return left;
    }

    private Expression not() {
        int line = tokens.line();
        if (!tokens.skipName("not")) {
            return comparison();
        }
        tokens.enter();
        Expression negated = new Not(line, not());
        tokens.leave();
        return negated;
    }

    private Expression comparison() {
        int line = tokens.line();
        Expression first = sum();
        List<String> operators = new ArrayList<>();
        List<Expression> others = new ArrayList<>();
        while (true) {
            Token token = tokens.current();
            if (token.kind() == Token.Kind.OPERATOR && COMPARISONS.contains(token.text())) {
                operators.add(tokens.next().text());
            } else if (tokens.skipName("in")) {
                operators.add("in");
            } else if (token.isName("not") && tokens.lookAhead().isName("in")) {
                tokens.next();
                tokens.next();
                operators.add("not in");
            } else {
                return operators.isEmpty() ? first : new Comparison(line, first, operators, others);
            }
            others.add(sum());
        }
    }

    private Expression sum() {
        Expression left = concatenation();
        while (tokens.current().is("+") || tokens.current().is("-")) {
            Token operator = tokens.next();
            left = new Arithmetic(operator.line(), operator.text(), left, concatenation());
        }
        return left;
    }

    private Expression concatenation() {
        int line = tokens.line();
        List<Expression> parts = new ArrayList<>(List.of(product()));
        while (tokens.skip("~")) {
            parts.add(product());
        }
        return parts.size() == 1 ? parts.get(0) : new Concatenation(line, parts);
    }

    private Expression product() {
        Expression left = power();
        while (tokens.current().kind() == Token.Kind.OPERATOR
                && PRODUCTS.contains(tokens.current().text())) {
            Token operator = tokens.next();
            left = new Arithmetic(operator.line(), operator.text(), left, power());
        }
        return left;
    }

    private Expression power() {
        Expression left = unary();
        while (tokens.current().is("**")) {
            left = new Arithmetic(tokens.next().line(), "**", left, unary());
        }
        return left;
    }

    private Expression unary() {
        return filtered(signed());
    }

    private Expression signed() {
        Token token = tokens.current();
        if (token.is("-") || token.is("+")) {
            tokens.enter();
            tokens.next();
            Expression operand = new Sign(token.line(), token.text(), signed());
            tokens.leave();
            return postfix(operand);
        }
        return postfix(primary());
    }

    private Expression primary() {
        Token token = tokens.next();
        return switch (token.kind()) {
            case NAME -> name(token);
            case STRING -> string(token);
            case INTEGER -> integer(token);
            case FLOAT -> new Literal(token.line(), Double.valueOf(token.text()));
            case OPERATOR -> bracketed(token);
            default ->
                throw new TemplateException(
                        "Invalid syntax: expected an expression, not " + token.shown(), token.line());
        };
    }

    private static Expression name(Token token) {
        return switch (token.text()) {
            case "true", "True" -> new Literal(token.line(), true);
            case "false", "False" -> new Literal(token.line(), false);
            case "none", "None" -> new Literal(token.line(), None.NONE);
            default -> new Expressions.Name(token.line(), token.text());
        };
    }

    private Expression string(Token first) {
        StringBuilder value = new StringBuilder(first.text());
        while (tokens.current().kind() == Token.Kind.STRING) {
            value.append(tokens.next().text());
        }
        return new Literal(first.line(), Text.of(value.toString()));
    }

    private static Expression integer(Token token) {
        try {
            return new Literal(token.line(), Long.valueOf(token.text()));
        } catch (NumberFormatException e) {
            throw new TemplateException("Unsupported number '" + token.text() + "': beyond 64 bits", token.line());
        }
    }

    private Expression bracketed(Token open) {
        return switch (open.text()) {
            case "(" -> parenthesized(open);
            case "[" -> new Expressions.ListLiteral(open.line(), itemsUntil("]"));
            case "{" -> dict(open);
            default ->
                throw new TemplateException(
                        "Invalid syntax: expected an expression, not '" + open.text() + "'", open.line());
        };
    }

    private Expression parenthesized(Token open) {
        if (tokens.skip(")")) {
            return new Expressions.TupleLiteral(open.line(), List.of());
        }
        Expression value = tupleOrExpression();
        tokens.expect(")");
        return value;
    }

    private List<Expression> itemsUntil(String close) {
        List<Expression> items = new ArrayList<>();
        tokens.readItems(close, () -> items.add(expression()));
        return items;
    }

    private Expression dict(Token open) {
        List<Expression> keys = new ArrayList<>();
        List<Expression> values = new ArrayList<>();
        tokens.readItems("}", () -> {
            keys.add(expression());
            tokens.expect(":");
            values.add(expression());
        });
        return new Expressions.DictLiteral(open.line(), keys, values);
    }

    private Expression postfix(Expression start) {
        Expression value = start;
        while (true) {
            int line = tokens.line();
            if (tokens.skip(".")) {
                value = dotted(line, value);
            } else if (tokens.skip("[")) {
                value = subscript(line, value);
            } else if (tokens.current().is("(")) {
                value = new Expressions.Call(line, value, arguments());
            } else {
                return value;
            }
        }
    }

    private Expression dotted(int line, Expression target) {
        Token token = tokens.next();
        if (token.kind() == Token.Kind.NAME) {
            return new Expressions.Attribute(line, target, token.text());
        }
        if (token.kind() == Token.Kind.INTEGER) {
            return new Expressions.Item(line, target, integer(token));
        }
        throw new TemplateException("Invalid syntax: expected a name after '.', not " + token.shown(), line);
    }

    private Expression subscript(int line, Expression target) {
        Expression start = tokens.current().is(":") ? null : expression();
        if (tokens.skip("]")) {
            return new Expressions.Item(line, target, start);
        }
        if (tokens.current().is(",")) {
            throw tokens.failure("Unsupported subscript with several indexes");
        }
        tokens.expect(":");
        Expression stop = endsBound() ? null : expression();
        Expression step = null;
        if (tokens.skip(":") && !endsBound()) {
            step = expression();
        }
        tokens.expect("]");
        return new Expressions.Slice(line, target, start, stop, step);
    }

    private boolean endsBound() {
        return tokens.current().is(":") || tokens.current().is("]");
    }

    /** The arguments of a call, brackets included. */
    CallArguments arguments() {
        tokens.expect("(");
        List<Expression> positional = new ArrayList<>();
        Map<String, Expression> named = new LinkedHashMap<>();
        tokens.readItems(")", () -> argument(positional, named));
        return new CallArguments(positional, named);
    }

    private void argument(List<Expression> positional, Map<String, Expression> named) {
        if (tokens.current().is("*") || tokens.current().is("**")) {
            throw tokens.failure("Unsupported argument '" + tokens.current().text() + "…' of a call");
        }
        if (tokens.current().kind() == Token.Kind.NAME && tokens.lookAhead().is("=")) {
            String name = tokens.next().text();
            tokens.next();
            if (named.put(name, expression()) != null) {
                throw tokens.failure("Invalid call: argument '" + name + "' is given twice");
            }
            return;
        }
        if (!named.isEmpty()) {
            throw tokens.failure("Invalid call: an argument without a name follows one with a name");
        }
        positional.add(expression());
    }

    private Expression filtered(Expression start) {
        Expression value = start;
        while (true) {
            int line = tokens.line();
            if (tokens.skip("|")) {
                value = filter(line, value);
            } else if (tokens.skipName("is")) {
                value = test(line, value);
            } else if (tokens.current().is("(")) {
                value = new Expressions.Call(line, value, arguments());
            } else {
                return value;
            }
        }
    }

    /** One filter behind {@code |}, or the first one of a filter block. */
    Expression filter(int line, Expression target) {
        String name = dottedName();
        CallArguments arguments = tokens.current().is("(") ? arguments() : CallArguments.NONE;
        return new Expressions.Filter(line, target, name, arguments);
    }

    /** The filters that follow, each behind {@code |}. */
    Expression filters(Expression start) {
        Expression value = start;
        for (int line = tokens.line(); tokens.skip("|"); line = tokens.line()) {
            value = filter(line, value);
        }
        return value;
    }

    private Expression test(int line, Expression target) {
        boolean negated = tokens.skipName("not");
        String name = dottedName();
        CallArguments arguments = CallArguments.NONE;
        if (tokens.current().is("(")) {
            arguments = arguments();
        } else if (beginsTestArgument()) {
            arguments = new CallArguments(List.of(postfix(primary())), Map.of());
        }
        Expression test = new Expressions.Test(line, target, name, arguments);
        return negated ? new Not(line, test) : test;
    }

    private boolean beginsTestArgument() {
        Token token = tokens.current();
        return switch (token.kind()) {
            case NAME -> {
                if (token.isName("is")) {
                    throw tokens.failure("Invalid syntax: tests cannot be chained with 'is'");
                }
                yield !(token.isName("else") || token.isName("or") || token.isName("and"));
            }
            case STRING, INTEGER, FLOAT -> true;
            default -> token.is("[") || token.is("{");
        };
    }

    private String dottedName() {
        StringBuilder name = new StringBuilder(tokens.expectName());
        while (tokens.skip(".")) {
            name.append('.').append(tokens.expectName());
        }
        return name.toString();
    }
}
