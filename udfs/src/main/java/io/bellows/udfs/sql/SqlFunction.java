package io.bellows.udfs.sql;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke;
import org.apache.spark.sql.types.AbstractDataType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Function1;
import scala.Option;
import scala.Tuple3;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * A function of Spark SQL: a public static method on Spark's own values, and what {@code DESCRIBE FUNCTION EXTENDED} says about it.
 * A null argument makes the result null. Arguments are cast as Spark casts those of its own functions.
 *
 * @param name the name in SQL
 * @param usage one or two sentences
 * @param parameters the arguments, optional ones last
 * @param result the type of the result
 * @param code class of the static method
 * @param method its name
 * @param example a query without its SELECT
 * @param exampleResult what Spark prints for it
 */
public record SqlFunction(
        String name,
        String usage,
        List<Parameter> parameters,
        DataType result,
        Class<?> code,
        String method,
        String example,
        String exampleResult) {

    private static final String SINCE = "0.1.0";

    /**
     * An argument.
     *
     * @param name shown in the documentation
     * @param type what Spark casts it to
     * @param about what it means
     * @param defaultValue its value when it is left out; null: it must be given
     */
    public record Parameter(String name, DataType type, String about, Object defaultValue) {}

    /** What Spark registers. */
    public Tuple3<FunctionIdentifier, ExpressionInfo, Function1<Seq<Expression>, Expression>> registration() {
        return new Tuple3<>(new FunctionIdentifier(name), info(), this::call);
    }

    private ExpressionInfo info() {
        String arguments = parameters.stream()
                .map(parameter -> "      * " + parameter.name() + " - " + parameter.about())
                .collect(Collectors.joining("\n", "\n    Arguments:\n", "\n  "));
        String examples = "\n    Examples:\n      > SELECT " + example + ";\n       " + exampleResult + "\n  ";
        return new ExpressionInfo(
                code.getName(),
                null,
                name,
                "_FUNC_" + signature() + " - " + usage,
                arguments,
                examples,
                "",
                "misc_funcs",
                SINCE,
                "",
                "java_udf");
    }

    /** Parameters as documentation shows them, optional ones in brackets. */
    String signature() {
        StringBuilder signature = new StringBuilder("(");
        for (int i = 0; i < parameters.size(); i++) {
            String separated = (i == 0 ? "" : ", ") + parameters.get(i).name();
            signature.append(parameters.get(i).defaultValue() == null ? separated : "[" + separated + "]");
        }
        return signature.append(")").toString();
    }

    private Expression call(Seq<Expression> given) {
        List<Expression> arguments = new ArrayList<>(CollectionConverters.asJava(given));
        for (int i = arguments.size();
                i < parameters.size() && parameters.get(i).defaultValue() != null;
                i++) {
            arguments.add(literal(parameters.get(i)));
        }
        if (arguments.size() != parameters.size()) {
            throw new IllegalArgumentException(
                    "Invalid call of " + name + " with " + given.size() + " arguments: write " + name + signature());
        }
        List<AbstractDataType> types = parameters.stream()
                .map(parameter -> (AbstractDataType) parameter.type())
                .toList();
        return new StaticInvoke(
                code,
                result,
                method,
                CollectionConverters.asScala(arguments).toSeq(),
                CollectionConverters.asScala(types).toSeq(),
                true,
                true,
                true,
                Option.empty());
    }

    private static Expression literal(Parameter parameter) {
        Object value = parameter.defaultValue();
        return new Literal(value instanceof String text ? UTF8String.fromString(text) : value, parameter.type());
    }
}
