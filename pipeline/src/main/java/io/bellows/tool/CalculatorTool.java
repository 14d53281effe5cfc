package io.bellows.tool;

import com.ezylang.evalex.EvaluationException;
import com.ezylang.evalex.parser.ParseException;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/**
 * Computes one expression of numbers. Whole numbers are exact, up to 100 digits; others have 15 digits behind those before the
 * point. What is longer, larger or deeper than the limits is an error for the model.
 */
public final class CalculatorTool implements NativeTool {

    private static final int MOST_CHARACTERS = 500;

    private static final int SIGNIFICANT_DIGITS = 15;

    @Override
    public String toolSchema() {
        return """
                {"type": "function", "function": {"name": "calculator",
                 "description": "Computes an arithmetic expression: + - * / % ^, brackets, SQRT, ABS, ROUND, MIN, MAX and the like.",
                 "parameters": {"type": "object", "required": ["expression"], "additionalProperties": false, "properties": {
                  "expression": {"type": "string", "description": "for example 12 * (3 + 4)"}}}}}""";
    }

    /** The value of {@code arguments.expression}. */
    @Override
    public ToolResponse execute(ObjectNode arguments, ObjectNode executeKwargs) {
        String expression = arguments.path("expression").asText();
        if (expression.length() > MOST_CHARACTERS) {
            throw new IllegalArgumentException("Cannot compute an expression of " + expression.length()
                    + " characters; give at most " + MOST_CHARACTERS);
        }
        try {
            return ToolResponse.of(plain(new Arithmetic(expression).value()));
        } catch (ParseException | EvaluationException | ArithmeticException | NumberFormatException e) {
            throw new IllegalArgumentException("Cannot compute " + expression + ": " + e.getMessage(), e);
        }
    }

    private static String plain(BigDecimal value) {
        BigDecimal stripped = value.stripTrailingZeros();
        if (stripped.scale() > 0) {
            int digits = Math.max(0, stripped.precision() - stripped.scale()) + SIGNIFICANT_DIGITS;
            stripped = stripped.round(new MathContext(digits, RoundingMode.HALF_EVEN))
                    .stripTrailingZeros();
        }
        return stripped.toPlainString();
    }
}
