package io.bellows.tool;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.StringJoiner;

/**
 * Runs SQL in a DuckDB database in memory that one trajectory has to itself. The statements of the configuration fill it first
 * and may read files; then file system, network, extensions and settings are closed for good, and the statements of the row's
 * {@code create_kwargs} ({@code {"statements": ["CREATE TABLE …", …]}}) and those of the model run.
 *
 * <p>A statement is cancelled after {@link Limits#timeoutS}. DuckDB counts its tables and operators against the memory limit, but
 * not each text that a function builds: one that makes a huge text is seen by the time limit of the tool only.
 */
public final class SqlTool implements NativeTool {

    private final Limits limits;
    private Connection connection;

    /** A database within limits; opens nothing yet. */
    public SqlTool(Limits limits) {
        this.limits = limits;
    }

    /**
     * What the database begins with and what bounds it.
     *
     * @param statements SQL of the configuration's author, run once a trajectory before the database is closed off; none by default
     * @param memoryLimitMb memory of one database, 16 or more; 128 by default
     * @param threads threads of one database, 1 by default
     * @param timeoutS seconds that one statement may take, 10 by default
     * @param maxRows rows of an answer, 50 by default
     * @param maxCharacters characters of one value in an answer, 200 by default
     */
    public record Limits(
            List<String> statements,
            Integer memoryLimitMb,
            Integer threads,
            Integer timeoutS,
            Integer maxRows,
            Integer maxCharacters) {

        /** Fills in what is not given. */
        public Limits {
            statements = statements == null ? List.of() : List.copyOf(statements);
            memoryLimitMb = atLeast(16, "memory_limit_mb", memoryLimitMb, 128);
            threads = atLeast(1, "threads", threads, 1);
            timeoutS = atLeast(1, "timeout_s", timeoutS, 10);
            maxRows = atLeast(1, "max_rows", maxRows, 50);
            maxCharacters = atLeast(1, "max_characters", maxCharacters, 200);
        }

        private static int atLeast(int least, String name, Integer value, int otherwise) {
            if (value != null && value < least) {
                throw new IllegalArgumentException(
                        "Invalid " + name + " " + value + ": expected " + least + " or more");
            }
            return value == null ? otherwise : value;
        }
    }

    @Override
    public String toolSchema() {
        return """
                {"type": "function", "function": {"name": "sql",
                 "description": "Runs SQL (DuckDB) in a database of this conversation and shows the rows.",
                 "parameters": {"type": "object", "required": ["query"], "additionalProperties": false, "properties": {
                  "query": {"type": "string", "description": "for example SELECT count(*) FROM orders"}}}}}""";
    }

    @Override
    public void create(ObjectNode createKwargs) throws SQLException {
        Properties settings = new Properties();
        settings.putAll(Map.of(
                "jdbc_stream_results", "true",
                "memory_limit", limits.memoryLimitMb() + "MB",
                "threads", String.valueOf(limits.threads()),
                "temp_directory", "",
                "autoinstall_known_extensions", "false",
                "autoload_known_extensions", "false",
                "allow_community_extensions", "false"));
        connection = DriverManager.getConnection("jdbc:duckdb:", settings);
        for (String sql : limits.statements()) {
            run(sql);
        }
        run("SET enable_external_access = false");
        run("SET lock_configuration = true");
        for (JsonNode sql : createKwargs.path("statements")) {
            run(sql.asText());
        }
    }

    @Override
    public ToolResponse execute(ObjectNode arguments, ObjectNode executeKwargs) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.setQueryTimeout(limits.timeoutS());
            if (!statement.execute(arguments.path("query").asText())) {
                int changed = statement.getUpdateCount();
                return ToolResponse.of(changed < 0 ? "done" : changed + " rows changed");
            }
            try (ResultSet rows = statement.getResultSet()) {
                return ToolResponse.of(table(rows));
            }
        }
    }

    @Override
    public void release(ObjectNode releaseKwargs) throws SQLException {
        if (connection != null) {
            connection.close();
        }
    }

    private void run(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.setQueryTimeout(limits.timeoutS());
            statement.execute(sql);
        }
    }

    private String table(ResultSet rows) throws SQLException {
        int columns = rows.getMetaData().getColumnCount();
        List<String> lines = new ArrayList<>();
        StringJoiner header = new StringJoiner(" | ");
        for (int i = 1; i <= columns; i++) {
            header.add(cell(rows.getMetaData().getColumnName(i)));
        }
        lines.add(header.toString());
        while (rows.next()) {
            if (lines.size() > limits.maxRows()) {
                lines.add("(only the first " + limits.maxRows() + " rows)");
                return String.join("\n", lines);
            }
            StringJoiner line = new StringJoiner(" | ");
            for (int i = 1; i <= columns; i++) {
                line.add(cell(rows.getString(i)));
            }
            lines.add(line.toString());
        }
        return lines.size() == 1 ? header + "\n(no rows)" : String.join("\n", lines);
    }

    private String cell(String value) {
        if (value == null) {
            return "NULL";
        }
        String line = value.replace('\n', ' ').replace('\r', ' ');
        return line.length() <= limits.maxCharacters() ? line : line.substring(0, limits.maxCharacters()) + "...";
    }
}
