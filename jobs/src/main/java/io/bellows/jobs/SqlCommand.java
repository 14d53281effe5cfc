package io.bellows.jobs;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.run.RunDirectory;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.parser.ParseException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "sql",
        description = {
            "Runs Spark SQL. With RUN, the views trajectories, scores, experience and metrics show what the run has committed.",
            "Example: bellows sql RUN \"SELECT * FROM metrics ORDER BY iteration\""
        })
final class SqlCommand extends Subcommand {

    @Parameters(
            arity = "1..2",
            paramLabel = "[RUN] QUERY",
            hideParamSyntax = true,
            description = "A run directory, on any file system that Spark knows; and one statement.")
    private List<String> arguments;

    @Option(
            names = "--limit",
            defaultValue = "100",
            paramLabel = "N",
            description = "Most rows printed (default: ${DEFAULT-VALUE}; 0: all, in this process' memory).")
    private int limit;

    @Override
    ObjectNode run(Console console) throws IOException {
        if (limit < 0) {
            throw new UsageException("Invalid --limit " + limit + ": give 0 for all rows, or a number above 0");
        }
        Map<String, String> properties = Map.of("spark.sql.jsonGenerator.ignoreNullFields", "false");
        try (SparkSession spark = Session.open("sql", properties)) {
            if (arguments.size() == 2) {
                openRun(spark, arguments.get(0));
            }
            return print(query(spark), console);
        }
    }

    private static void openRun(SparkSession spark, String path) {
        try (RunDirectory run = RunDirectory.open(spark, path)) {
            run.createViews();
        }
    }

    private Dataset<Row> query(SparkSession spark) {
        try {
            return spark.sql(arguments.get(arguments.size() - 1));
        } catch (Exception e) {
            // Scala throws the checked AnalysisException without declaring it.
            if (e instanceof AnalysisException wrong) {
                throw new UsageException("Invalid query: " + explained(wrong));
            }
            throw e;
        }
    }

    private String explained(AnalysisException wrong) {
        if (wrong instanceof ParseException) {
            return wrong.getMessage().strip(); // points at the place
        }
        String first = wrong.getMessage().lines().findFirst().orElse("");
        boolean runMissing = arguments.size() == 1 && wrong.getMessage().contains("TABLE_OR_VIEW_NOT_FOUND");
        return runMissing ? first + "\nThe tables of a run need its directory: bellows sql RUN \"SELECT …\"" : first;
    }

    private ObjectNode print(Dataset<Row> rows, Console console) throws JsonProcessingException {
        Dataset<Row> taken = limit == 0 ? rows : rows.limit(limit + 1);
        List<String> columns = Arrays.asList(taken.columns());
        ObjectNode result = object();
        columns.forEach(result.putArray("columns")::add);
        ArrayNode printed = result.putArray("rows");
        boolean truncated;
        if (console.mode() == Console.Mode.JSON) {
            List<String> lines = new ArrayList<>(taken.toJSON().collectAsList());
            truncated = cut(lines);
            ObjectMapper json = new ObjectMapper();
            for (String line : lines) {
                printed.add(json.readTree(line));
            }
        } else {
            List<Row> cells = new ArrayList<>(taken.select(asText(taken)).collectAsList());
            truncated = cut(cells);
            console.say(table(columns, cells).render());
        }
        if (truncated) {
            console.warn("More rows than --limit " + limit + "; --limit 0 prints all.");
        }
        return result.put("truncated", truncated);
    }

    private boolean cut(List<?> rows) {
        boolean more = limit > 0 && rows.size() > limit;
        if (more) {
            rows.remove(limit);
        }
        return more;
    }

    /** Every column as text, by position: names may repeat. */
    private static Column[] asText(Dataset<Row> rows) {
        return Arrays.stream(rows.columns())
                .map(name -> rows.col("`" + name.replace("`", "``") + "`").cast("string"))
                .toArray(Column[]::new);
    }

    private static TextTable table(List<String> columns, List<Row> rows) {
        TextTable table = new TextTable(columns);
        for (Row row : rows) {
            List<String> cells = new ArrayList<>();
            for (int i = 0; i < row.size(); i++) {
                cells.add(row.getString(i));
            }
            table.add(cells);
        }
        return table;
    }
}
