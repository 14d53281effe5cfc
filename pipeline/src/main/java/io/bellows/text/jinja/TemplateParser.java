package io.bellows.text.jinja;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Reads a template into statements. */
final class TemplateParser {

    private final TokenStream tokens;
    private final ExpressionParser expressions;
    private int loops; // around the current statement, within its macro

    private TemplateParser(List<Token> tokens) {
        this.tokens = new TokenStream(tokens);
        this.expressions = new ExpressionParser(this.tokens);
    }

    static List<Statement> parse(String source) {
        TemplateParser parser = new TemplateParser(Lexer.tokens(source));
        List<Statement> statements = parser.statements(Set.of(), "", 0);
        return List.copyOf(statements);
    }

    /** Statements up to a tag that begins with one of some names; the tag's opening is read, its name is not. */
    private List<Statement> statements(Set<String> ends, String tag, int tagLine) {
        tokens.enter();
        List<Statement> statements = new ArrayList<>();
        while (true) {
            Token token = tokens.next();
            switch (token.kind()) {
                case DATA -> statements.add(new Statements.Data(token.line(), Text.of(token.text())));
                case EXPRESSION_BEGIN -> {
                    Expression value = expressions.tupleOrExpression();
                    tokens.expect(Token.Kind.EXPRESSION_END, "'}}'");
                    statements.add(new Statements.Output(token.line(), value));
                }
                case TAG_BEGIN -> {
                    if (tokens.current().kind() == Token.Kind.NAME
                            && ends.contains(tokens.current().text())) {
                        tokens.leave();
                        return statements;
                    }
                    statements.add(tag(token.line()));
                }
                default -> {
                    if (!ends.isEmpty()) {
                        throw new TemplateException(
                                "Invalid tag '" + tag + "': it has no '" + endOf(tag) + "'", tagLine);
                    }
                    tokens.leave();
                    return statements;
                }
            }
        }
    }

    private static String endOf(String tag) {
        return "end" + (tag.equals("elif") || tag.equals("else") ? "if" : tag);
    }

    /** The body of a tag and its end, which is read. */
    private List<Statement> body(String tag, int line) {
        List<Statement> body = statements(Set.of("end" + tag), tag, line);
        tokens.next();
        endTag();
        return body;
    }

    private void endTag() {
        tokens.expect(Token.Kind.TAG_END, "'%}'");
    }

    private Statement tag(int line) {
        String name = tokens.expect(Token.Kind.NAME, "the name of a tag").text();
        return switch (name) {
            case "if" -> ifTag(line);
            case "for" -> forTag(line);
            case "set" -> setTag(line);
            case "macro" -> macroTag(line);
            case "call" -> callTag(line);
            case "filter" -> filterTag(line);
            case "with" -> withTag(line);
            case "generation" -> {
                endTag();
                yield new Statements.Scope(line, List.of(), List.of(), apart("generation", line));
            }
            case "break" -> jump(name, line, Flow.BREAK);
            case "continue" -> jump(name, line, Flow.CONTINUE);
            case "elif", "else" -> throw new TemplateException("Invalid tag '" + name + "': it has no 'if'", line);
            default ->
                throw new TemplateException(
                        name.startsWith("end")
                                ? "Invalid tag '" + name + "': it ends nothing"
                                : "Unsupported tag '" + name + "'",
                        line);
        };
    }

    /** A body that is captured or called, out of which no jump leads. */
    private List<Statement> apart(String tag, int line) {
        int around = loops;
        loops = 0;
        List<Statement> body = body(tag, line);
        loops = around;
        return body;
    }

    private Statement jump(String name, int line, Flow flow) {
        if (loops == 0) {
            throw new TemplateException("Invalid tag '" + name + "': it stands in no loop", line);
        }
        endTag();
        return new Statements.Jump(line, flow);
    }

    private Statement ifTag(int line) {
        List<Expression> conditions = new ArrayList<>();
        List<List<Statement>> bodies = new ArrayList<>();
        List<Statement> otherwise = List.of();
        String branch = "if";
        int branchLine = line;
        while (!branch.equals("endif")) {
            if (branch.equals("else")) {
                endTag();
                otherwise = statements(Set.of("endif"), branch, branchLine);
            } else {
                conditions.add(expressions.tupleOrExpression());
                endTag();
                bodies.add(statements(Set.of("elif", "else", "endif"), branch, branchLine));
            }
            branchLine = tokens.line();
            branch = tokens.next().text();
        }
        endTag();
        return new Statements.If(line, conditions, bodies, otherwise);
    }

    private Statement forTag(int line) {
        Target target = targets("in");
        if (!tokens.skipName("in")) {
            throw tokens.failure(
                    "Invalid syntax: expected 'in', not " + tokens.current().shown());
        }
        Expression items = itemsOfFor();
        Expression condition = tokens.skipName("if") ? expressions.expression() : null;
        if (tokens.current().isName("recursive")) {
            throw tokens.failure("Unsupported recursive 'for'");
        }
        endTag();
        loops++;
        List<Statement> body = statements(Set.of("else", "endfor"), "for", line);
        loops--;
        List<Statement> otherwise = List.of();
        if (tokens.next().text().equals("else")) {
            endTag();
            otherwise = statements(Set.of("endfor"), "for", line);
            tokens.next();
        }
        endTag();
        return new Statements.For(line, target, items, condition, body, otherwise);
    }

    private Expression itemsOfFor() {
        int line = tokens.line();
        Expression first = expressions.withoutCondition();
        if (!tokens.current().is(",")) {
            return first;
        }
        List<Expression> items = new ArrayList<>(List.of(first));
        while (tokens.skip(",") && tokens.current().kind() != Token.Kind.TAG_END) {
            items.add(expressions.withoutCondition());
        }
        return new Expressions.TupleLiteral(line, items);
    }

    private Target targets(String end) {
        Target first = target();
        if (!tokens.current().is(",")) {
            return first;
        }
        List<Target> targets = new ArrayList<>(List.of(first));
        while (tokens.skip(",")
                && !tokens.current().isName(end)
                && !tokens.current().is(end)) {
            targets.add(target());
        }
        return new Target.Several(targets);
    }

    private Target target() {
        if (tokens.skip("(")) {
            tokens.enter();
            Target inner = targets(")");
            tokens.leave();
            tokens.expect(")");
            return inner;
        }
        String name = tokens.expectName();
        if (tokens.skip(".")) {
            return new Target.NamespaceAttribute(name, tokens.expectName());
        }
        return new Target.Variable(name);
    }

    private Statement setTag(int line) {
        Target target = targets("=");
        if (tokens.skip("=")) {
            Expression value = expressions.tupleOrExpression();
            endTag();
            return new Statements.Set(line, target, value);
        }
        Expression value = expressions.filters(captured(line));
        endTag();
        return new Statements.SetBlock(line, target, new Statements.Captured(apart("set", line)), value);
    }

    private Statement filterTag(int line) {
        Expression value = expressions.filters(expressions.filter(line, captured(line)));
        endTag();
        return new Statements.FilterBlock(line, new Statements.Captured(apart("filter", line)), value);
    }

    private static Expression captured(int line) {
        return new Expressions.Name(line, Statements.Captured.NAME);
    }

    private Statement macroTag(int line) {
        String name = tokens.expectName();
        Parameters parameters = parameters();
        endTag();
        return new Statements.Definition(line, signature(name, parameters, "macro", line));
    }

    private Statement callTag(int line) {
        Parameters parameters = tokens.current().is("(") ? parameters() : new Parameters(List.of(), List.of());
        Expression call = expressions.expression();
        if (!(call instanceof Expressions.Call callee)) {
            throw new TemplateException("Invalid tag 'call': it calls nothing", line);
        }
        endTag();
        return new Statements.CallBlock(line, callee, signature("caller", parameters, "call", line));
    }

    private Statements.Signature signature(String name, Parameters parameters, String tag, int line) {
        int start = tokens.position();
        List<Statement> body = apart(tag, line);
        return new Statements.Signature(
                name,
                parameters.names(),
                parameters.defaults(),
                body,
                tokens.mentions("varargs", start),
                tokens.mentions("kwargs", start));
    }

    private record Parameters(List<String> names, List<Expression> defaults) {}

    private Parameters parameters() {
        List<String> names = new ArrayList<>();
        List<Expression> defaults = new ArrayList<>();
        tokens.expect("(");
        tokens.readItems(")", () -> {
            names.add(tokens.expectName());
            if (tokens.skip("=")) {
                defaults.add(expressions.expression());
            } else if (!defaults.isEmpty()) {
                throw tokens.failure("Invalid parameter: one without a default follows one with a default");
            }
        });
        return new Parameters(names, defaults);
    }

    private Statement withTag(int line) {
        List<String> names = new ArrayList<>();
        List<Expression> values = new ArrayList<>();
        while (tokens.current().kind() != Token.Kind.TAG_END) {
            if (!names.isEmpty()) {
                tokens.expect(",");
            }
            names.add(tokens.expectName());
            tokens.expect("=");
            values.add(expressions.expression());
        }
        endTag();
        return new Statements.Scope(line, names, values, body("with", line));
    }
}
