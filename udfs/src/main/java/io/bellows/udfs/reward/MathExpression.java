package io.bellows.udfs.reward;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * An expression of numbers, letters, {@code + - * / ^ !}, roots, fractions and common functions, in LaTeX or plainly written, evaluated while it is
 * read. Time is linear in the length of the text.
 */
final class MathExpression {

    /** How deep brackets may lie in brackets: the reader calls itself for each. */
    private static final int DEEPEST = 50;

    private static final double RELATIVE = 1e-9;
    private static final double ABSOLUTE = 1e-12;

    /** Where expressions with letters are compared: points of either sign, which are roots of nothing that people write. */
    private static final double[] POINTS = {
        0.7390851332, 1.3247179572, 2.2360797750, -0.5671432904, -1.6180339887, 3.3598856662
    };

    private static final Set<String> FUNCTIONS = Set.of("sin", "cos", "tan", "ln", "log", "exp", "sqrt", "abs");

    /** A text that is no such expression. */
    private static final class NoExpression extends Exception {
        private static final long serialVersionUID = 1L;
    }

    private final String text;
    private final double shift;
    private final Map<String, Double> letters = new HashMap<>();
    private final Set<String> used = new TreeSet<>();
    private int at;
    private int depth;

    private MathExpression(String text, int point) {
        this.text = text;
        this.shift = POINTS[point];
    }

    /** Whether both are expressions of the same letters and have the same values. */
    static boolean sameValues(String a, String b) {
        int compared = 0;
        try {
            for (int point = 0; point < POINTS.length; point++) {
                MathExpression first = new MathExpression(a, point);
                MathExpression second = new MathExpression(b, point);
                double x = first.value();
                double y = second.value();
                boolean known = Double.isFinite(x) && Double.isFinite(y);
                if (known ? !near(x, y) : Double.isFinite(x) || Double.isFinite(y)) {
                    return false;
                }
                compared += known ? 1 : 0;
                if (first.used.isEmpty() && second.used.isEmpty()) {
                    return known;
                }
            }
        } catch (NoExpression e) {
            return false;
        }
        return compared >= 2;
    }

    private static boolean near(double x, double y) {
        return Math.abs(x - y) <= Math.max(ABSOLUTE, RELATIVE * Math.max(Math.abs(x), Math.abs(y)));
    }

    private double value() throws NoExpression {
        double value = sum();
        if (at != text.length()) {
            throw new NoExpression();
        }
        return value;
    }

    private double sum() throws NoExpression {
        if (++depth > DEEPEST) {
            throw new NoExpression();
        }
        double value = product();
        while (next('+') || next('-')) {
            boolean plus = text.charAt(at++) == '+';
            double term = product();
            value = plus ? value + term : value - term;
        }
        depth--;
        return value;
    }

    private double product() throws NoExpression {
        double value = signed();
        while (true) {
            if (next('*')) {
                at++;
                value *= signed();
            } else if (next('/')) {
                at++;
                value /= signed();
            } else if (beginsFactor()) {
                value *= power(); // 2x, 3(x+1)
            } else {
                return value;
            }
        }
    }

    private double signed() throws NoExpression {
        boolean negative = false;
        while (next('-') || next('+')) {
            negative ^= text.charAt(at++) == '-';
        }
        double value = power();
        return negative ? -value : value;
    }

    private double power() throws NoExpression {
        double base = atom();
        while (next('!')) {
            at++;
            base = factorial(base);
        }
        if (!next('^')) {
            return base;
        }
        at++;
        if (++depth > DEEPEST) {
            throw new NoExpression();
        }
        double exponent = next('{') ? argument() : signed();
        depth--;
        return Math.pow(base, exponent);
    }

    private static double factorial(double n) {
        if (n < 0 || n != Math.rint(n) || n > 170) {
            return Double.NaN;
        }
        double product = 1;
        for (int i = 2; i <= n; i++) {
            product *= i;
        }
        return product;
    }

    private boolean beginsFactor() {
        skipSpace();
        if (at >= text.length()) {
            return false;
        }
        char c = text.charAt(at);
        return c == '(' || c == '{' || c == '\\' || isLetter(c);
    }

    private double atom() throws NoExpression {
        skipSpace();
        if (at >= text.length()) {
            throw new NoExpression();
        }
        char c = text.charAt(at);
        if (c == '(' || c == '{') {
            return bracketed(c == '(' ? ')' : '}');
        }
        if (c == '|') {
            return Math.abs(bracketed('|'));
        }
        if (c == '\\') {
            return command();
        }
        return isLetter(c) ? word() : number();
    }

    private double bracketed(char close) throws NoExpression {
        at++;
        double value = sum();
        if (!next(close)) {
            throw new NoExpression();
        }
        at++;
        return value;
    }

    /** A number, and the fraction behind it where it is a mixed one: {@code 3\frac12} is three and a half. */
    private double number() throws NoExpression {
        int start = at;
        while (at < text.length() && (isDigit(text.charAt(at)) || text.charAt(at) == '.')) {
            at++;
        }
        double whole = parsed(text.substring(start, at));
        skipSpace();
        boolean mixed = text.startsWith("\\frac", at) && whole == Math.rint(whole);
        if (!mixed) {
            return whole;
        }
        int letters = used.size();
        double fraction = command();
        return used.size() == letters ? whole + fraction : whole * fraction;
    }

    private static double parsed(String digits) throws NoExpression {
        try {
            return Double.parseDouble(digits);
        } catch (NumberFormatException e) {
            throw new NoExpression();
        }
    }

    private double command() throws NoExpression {
        int start = ++at;
        while (at < text.length() && isLetter(text.charAt(at))) {
            at++;
        }
        String name = text.substring(start, at);
        if (name.equals("frac")) {
            double numerator = argument();
            return numerator / argument();
        } else if (name.equals("sqrt")) {
            return root();
        } else if (name.equals("pi")) {
            return Math.PI;
        } else if (FUNCTIONS.contains(name)) {
            return function(name);
        } else if (name.isEmpty()) {
            throw new NoExpression();
        }
        return letter("\\" + name);
    }

    private double root() throws NoExpression {
        double degree = 2;
        if (next('[')) {
            degree = bracketed(']');
        }
        double value = argument();
        if (degree == 2) {
            return Math.sqrt(value);
        }
        boolean odd = degree % 2 != 0 && degree == Math.rint(degree);
        return value < 0 && odd ? -Math.pow(-value, 1 / degree) : Math.pow(value, 1 / degree);
    }

    private double function(String name) throws NoExpression {
        double value = next('(') || next('{') ? atom() : power();
        return switch (name) {
            case "sin" -> Math.sin(value);
            case "cos" -> Math.cos(value);
            case "tan" -> Math.tan(value);
            case "ln" -> Math.log(value);
            case "log" -> Math.log10(value);
            case "exp" -> Math.exp(value);
            case "sqrt" -> Math.sqrt(value);
            default -> Math.abs(value);
        };
    }

    /** What a command applies to: something in braces, else one digit, letter or command. */
    private double argument() throws NoExpression {
        skipSpace();
        if (at < text.length() && isDigit(text.charAt(at))) {
            return text.charAt(at++) - '0';
        }
        if (at < text.length() && isLetter(text.charAt(at))) {
            return letter(text.substring(at, ++at));
        }
        if (++depth > DEEPEST) {
            throw new NoExpression();
        }
        double value = atom();
        depth--;
        return value;
    }

    /** A function, or one letter: {@code xy} is a product. */
    private double word() throws NoExpression {
        int end = at;
        while (end < text.length() && isLetter(text.charAt(end))) {
            end++;
        }
        String word = text.substring(at, end);
        if (word.equals("pi")) {
            at = end;
            return Math.PI;
        }
        if (FUNCTIONS.contains(word)) {
            at = end;
            return function(word);
        }
        return letter(text.substring(at, ++at));
    }

    /** The value of a letter at this point, other than that of any other letter; an index belongs to its name. */
    private double letter(String name) {
        String full = name;
        if (at + 1 < text.length() && text.charAt(at) == '_' && Character.isLetterOrDigit(text.charAt(at + 1))) {
            full += text.substring(at, at + 2);
            at += 2;
        }
        used.add(full);
        return letters.computeIfAbsent(full, key -> shift * (1 + Math.floorMod(key.hashCode() * 31, 9_973) / 9_973.0));
    }

    private boolean next(char c) {
        skipSpace();
        return at < text.length() && text.charAt(at) == c;
    }

    private void skipSpace() {
        while (at < text.length() && text.charAt(at) == ' ') {
            at++;
        }
    }

    private static boolean isLetter(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }
}
