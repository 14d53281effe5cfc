package io.bellows.udfs.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bellows.udfs.BellowsExtensions;
import io.bellows.udfs.advantage.AdvantageRegistry;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A plain Spark session with the extension, as an analyst opens it. */
class SqlFunctionsTest {

    private static SparkSession spark;

    @BeforeAll
    static void open() {
        spark = SparkSession.builder()
                .master("local[1]")
                .config("spark.ui.enabled", "false")
                .config("spark.driver.host", "127.0.0.1")
                .config("spark.driver.bindAddress", "127.0.0.1")
                .config("spark.sql.extensions", BellowsExtensions.class.getName())
                .getOrCreate();
    }

    @AfterAll
    static void close() {
        spark.stop();
    }

    @Test
    void everyFunctionIsDescribedWithUsageArgumentsExampleAndVersion() {
        for (SqlFunction function : SqlFunctions.all()) {
            String text = spark.sql("DESCRIBE FUNCTION EXTENDED " + function.name()).collectAsList().stream()
                    .map(row -> row.getString(0))
                    .collect(Collectors.joining("\n"));
            assertThat(text)
                    .as(function.name())
                    .contains("Function: " + function.name())
                    .contains("Usage: " + function.name() + function.signature() + " - " + function.usage())
                    .contains("Arguments:")
                    .contains("> SELECT " + function.example() + ";")
                    .contains(function.exampleResult())
                    .contains("Since: 0.1.0");
            function.parameters()
                    .forEach(parameter ->
                            assertThat(text).contains("* " + parameter.name() + " - " + parameter.about()));
        }
    }

    @Test
    void everyExampleGivesTheDocumentedResult() {
        String[] columns = SqlFunctions.all().stream()
                .map(function -> "to_json(struct(" + function.example() + " AS r)) AS " + function.name())
                .toArray(String[]::new);
        Row row = spark.range(1).selectExpr(columns).head();
        for (SqlFunction function : SqlFunctions.all()) {
            assertThat(row.<String>getAs(function.name()))
                    .as(function.name())
                    .isEqualTo("{\"r\":" + function.exampleResult() + "}");
        }
    }

    @Test
    void aTrajectoryOfNullIsAbsent() {
        String steps = "array(array(1d, 2d), array(4d, 0d), null)";
        String otb =
                "transform(optimal_token_baseline_advantage(%s, array(array(1, 1), array(1, 1), %s), array(array(-1d, -1d), array(-1d, -1d), %s),"
                        + " array(array(0.5d, 0.5d), array(0.5d, 0.5d), %s)), a -> transform(a, x -> round(x, 6)))";
        assertThat(json(otb.formatted(steps, "array(1, 1)", "array(-1d, -1d)", "array(0.5d, 0.5d)")))
                .isEqualTo("[[-0.5,1.0],[0.5,-1.0],[0.0,0.0]]")
                .isEqualTo(json(otb.formatted(steps, "array(1, 1)", "null", "null")));
        assertThat(json("gdpo_advantage(array(array(1d, 0d), array(0d, 0d), null), array(1d, 1d), false)"))
                .isEqualTo("[0.5,-0.5,0.0]");
        assertThatThrownBy(() -> json("gdpo_advantage(array(array(1d, 0d)), array(1d), false)"))
                .hasStackTraceContaining("2 rewards of a trajectory and 1 weights; give one weight per reward");
    }

    private static String json(String expression) {
        String text = spark.sql("SELECT to_json(struct(" + expression + " AS r))")
                .head()
                .getString(0);
        return text.substring("{\"r\":".length(), text.length() - 1);
    }

    @Test
    void everyAdvantageEstimatorIsAFunctionOfItsName() {
        List<String> functions =
                SqlFunctions.all().stream().map(SqlFunction::name).toList();
        assertThat(AdvantageRegistry.names().stream()
                        .filter(name -> !name.endsWith("_vectorized"))
                        .map(name -> name + "_advantage"))
                .isSubsetOf(functions);
    }

    @Test
    void columnsWithNullsAndOtherNumberTypesAreUnderstood() {
        Row row = spark.sql("SELECT grpo_advantage(scores, false) a, rloo_advantage(CAST(NULL AS ARRAY<DOUBLE>)) b"
                        + " FROM (SELECT collect_list(CAST(id AS FLOAT)) scores FROM range(0, 2, 1, 1))")
                .head();

        assertThat(row.<Double>getList(0)).containsExactly(-0.5, 0.5);
        assertThat(row.isNullAt(1)).isTrue();
    }

    @Test
    void aReferenceAnswerThatIsNoNumberHasNoScore() {
        Row row = spark.sql("SELECT number_match('#### 7', 'north') a, number_match(NULL, '7') b,"
                        + " number_match('1 of 3.2', '3', 'last', 0.5) c")
                .head();

        assertThat(row.isNullAt(0)).isTrue();
        assertThat(row.isNullAt(1)).isTrue();
        assertThat(row.getDouble(2)).isEqualTo(1.0);
    }

    @Test
    void aCallThatDoesNotFitSaysHowToWriteIt() {
        assertThatThrownBy(() -> spark.sql("SELECT opo_advantage(array(1))"))
                .hasMessageContaining(
                        "Invalid call of opo_advantage with 1 arguments: write opo_advantage(scores, lengths)");
        assertThatThrownBy(() ->
                        spark.sql("SELECT exact_match('a', 'a', 'middle')").collectAsList())
                .hasStackTraceContaining("Invalid answer 'middle': use one of [auto, hash, boxed, last, whole]");
        assertThatThrownBy(() -> spark.sql("SELECT kl_penalty(0, 0, 'k9')").collectAsList())
                .hasStackTraceContaining("Unsupported KL penalty 'k9'");
    }
}
