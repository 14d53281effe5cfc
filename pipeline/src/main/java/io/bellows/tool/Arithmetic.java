package io.bellows.tool;

import static java.util.Map.entry;

import com.ezylang.evalex.EvaluationException;
import com.ezylang.evalex.Expression;
import com.ezylang.evalex.config.ExpressionConfiguration;
import com.ezylang.evalex.config.FunctionDictionaryIfc;
import com.ezylang.evalex.config.MapBasedFunctionDictionary;
import com.ezylang.evalex.config.MapBasedOperatorDictionary;
import com.ezylang.evalex.config.OperatorDictionaryIfc;
import com.ezylang.evalex.data.EvaluationValue;
import com.ezylang.evalex.functions.FunctionIfc;
import com.ezylang.evalex.functions.FunctionParameter;
import com.ezylang.evalex.functions.basic.AbsFunction;
import com.ezylang.evalex.functions.basic.AverageFunction;
import com.ezylang.evalex.functions.basic.CeilingFunction;
import com.ezylang.evalex.functions.basic.FactFunction;
import com.ezylang.evalex.functions.basic.FloorFunction;
import com.ezylang.evalex.functions.basic.Log10Function;
import com.ezylang.evalex.functions.basic.LogFunction;
import com.ezylang.evalex.functions.basic.MaxFunction;
import com.ezylang.evalex.functions.basic.MinFunction;
import com.ezylang.evalex.functions.basic.RoundFunction;
import com.ezylang.evalex.functions.basic.SqrtFunction;
import com.ezylang.evalex.functions.basic.SumFunction;
import com.ezylang.evalex.functions.trigonometric.CosRFunction;
import com.ezylang.evalex.functions.trigonometric.SinRFunction;
import com.ezylang.evalex.functions.trigonometric.TanRFunction;
import com.ezylang.evalex.operators.InfixOperator;
import com.ezylang.evalex.operators.OperatorIfc;
import com.ezylang.evalex.operators.arithmetic.InfixDivisionOperator;
import com.ezylang.evalex.operators.arithmetic.InfixMinusOperator;
import com.ezylang.evalex.operators.arithmetic.InfixModuloOperator;
import com.ezylang.evalex.operators.arithmetic.InfixMultiplicationOperator;
import com.ezylang.evalex.operators.arithmetic.InfixPlusOperator;
import com.ezylang.evalex.operators.arithmetic.InfixPowerOfOperator;
import com.ezylang.evalex.operators.arithmetic.PrefixMinusOperator;
import com.ezylang.evalex.operators.arithmetic.PrefixPlusOperator;
import com.ezylang.evalex.parser.ASTNode;
import com.ezylang.evalex.parser.ParseException;
import com.ezylang.evalex.parser.Token;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.List;
import java.util.Map;

/**
 * An expression of numbers, bounded: EvalEx computes with decimals of any size, and some of its operations take time or memory
 * that grows with a value rather than with the text. So each value on the way has a limit, and the arguments of those
 * operations too.
 */
final class Arithmetic extends Expression {

    /** Numbers stay within 10 to the power of plus or minus this. */
    private static final int MOST_DIGITS = 100;

    private static final int MOST_EXPONENT = 10_000;

    /** The largest factorial below the limit. */
    private static final int MOST_FACTORIAL = 69;

    private static final ExpressionConfiguration CONFIG = ExpressionConfiguration.builder()
            // Whole numbers stay exact: their digits, and some to spare.
            .mathContext(new MathContext(MOST_DIGITS + 28))
            .powerOfPrecedence(OperatorIfc.OPERATOR_PRECEDENCE_POWER_HIGHER)
            .arraysAllowed(false)
            .structuresAllowed(false)
            .defaultConstants(Map.of(
                    "PI", ExpressionConfiguration.StandardConstants.get("PI"),
                    "E", ExpressionConfiguration.StandardConstants.get("E")))
            .operatorDictionary(operators(List.of(
                    entry("+", new PrefixPlusOperator()),
                    entry("-", new PrefixMinusOperator()),
                    entry("+", new InfixPlusOperator()),
                    entry("-", new InfixMinusOperator()),
                    entry("*", new InfixMultiplicationOperator()),
                    entry("/", new InfixDivisionOperator()),
                    entry("%", new InfixModuloOperator()),
                    entry("^", new BoundedPower()),
                    entry("**", new BoundedPower()))))
            .functionDictionary(functions(List.of(
                    entry("ABS", new AbsFunction()),
                    entry("AVERAGE", new AverageFunction()),
                    entry("CEILING", new CeilingFunction()),
                    entry("COS", new CosRFunction()),
                    entry("FACT", new BoundedFactorial()),
                    entry("FLOOR", new FloorFunction()),
                    entry("LOG", new LogFunction()),
                    entry("LOG10", new Log10Function()),
                    entry("MAX", new MaxFunction()),
                    entry("MIN", new MinFunction()),
                    entry("ROUND", new BoundedRound()),
                    entry("SIN", new SinRFunction()),
                    entry("SQRT", new SqrtFunction()),
                    entry("SUM", new SumFunction()),
                    entry("TAN", new TanRFunction()))))
            .build();

    Arithmetic(String text) {
        super(text, CONFIG);
    }

    /**
     * The value.
     *
     * @throws ParseException when the text is no expression
     * @throws EvaluationException when it has no value within the limits
     */
    BigDecimal value() throws ParseException, EvaluationException {
        EvaluationValue value = evaluate();
        if (!value.isNumberValue()) {
            throw new EvaluationException(new Token(1, getExpressionString(), null), "the result is not a number");
        }
        return value.getNumberValue();
    }

    private static OperatorDictionaryIfc operators(List<Map.Entry<String, OperatorIfc>> entries) {
        OperatorDictionaryIfc dictionary = new MapBasedOperatorDictionary();
        entries.forEach(entry -> dictionary.addOperator(entry.getKey(), entry.getValue()));
        return dictionary;
    }

    private static FunctionDictionaryIfc functions(List<Map.Entry<String, FunctionIfc>> entries) {
        FunctionDictionaryIfc dictionary = new MapBasedFunctionDictionary();
        entries.forEach(entry -> dictionary.addFunction(entry.getKey(), entry.getValue()));
        return dictionary;
    }

    @Override
    public EvaluationValue evaluateSubtree(ASTNode node) throws EvaluationException {
        EvaluationValue value = super.evaluateSubtree(node);
        if (value.isNumberValue()) {
            BigDecimal number = value.getNumberValue();
            long digits = (long) number.precision() - number.scale();
            if (number.signum() == 0 ? number.scale() < -MOST_DIGITS : Math.abs(digits) > MOST_DIGITS) {
                throw new EvaluationException(
                        node.getToken(), "a number is beyond 10^" + MOST_DIGITS + " or below 10^-" + MOST_DIGITS);
            }
        } else if (value.isStringValue()) {
            throw new EvaluationException(node.getToken(), "only numbers can be computed with");
        }
        return value;
    }

    @InfixOperator(precedence = OperatorIfc.OPERATOR_PRECEDENCE_POWER, leftAssociative = false)
    private static final class BoundedPower extends InfixPowerOfOperator {

        @Override
        public EvaluationValue evaluate(Expression expression, Token token, EvaluationValue... operands)
                throws EvaluationException {
            BigDecimal exponent = operands[1].getNumberValue();
            if (exponent.abs().compareTo(BigDecimal.valueOf(MOST_EXPONENT)) > 0) {
                throw new EvaluationException(token, "an exponent is beyond " + MOST_EXPONENT);
            }
            if (operands[0].getNumberValue().signum() < 0
                    && exponent.stripTrailingZeros().scale() > 0) {
                throw new EvaluationException(token, "a negative number has whole powers only");
            }
            return super.evaluate(expression, token, operands);
        }
    }

    @FunctionParameter(name = "base", nonNegative = true)
    private static final class BoundedFactorial extends FactFunction {

        @Override
        public EvaluationValue evaluate(Expression expression, Token token, EvaluationValue... values) {
            if (values[0].getNumberValue().compareTo(BigDecimal.valueOf(MOST_FACTORIAL)) > 0) {
                throw new ArithmeticException("factorials of more than " + MOST_FACTORIAL + " are too large");
            }
            return super.evaluate(expression, token, values);
        }
    }

    @FunctionParameter(name = "value")
    @FunctionParameter(name = "scale")
    private static final class BoundedRound extends RoundFunction {

        @Override
        public EvaluationValue evaluate(Expression expression, Token token, EvaluationValue... values) {
            if (values[1].getNumberValue().abs().compareTo(BigDecimal.valueOf(MOST_DIGITS)) > 0) {
                throw new ArithmeticException("rounding to more than " + MOST_DIGITS + " places");
            }
            return super.evaluate(expression, token, values);
        }
    }
}
