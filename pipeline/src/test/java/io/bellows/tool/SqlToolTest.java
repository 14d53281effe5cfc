package io.bellows.tool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.config.InvalidConfigException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The shipped database: its own for each trajectory, closed off, and bounded. */
class SqlToolTest {

    private static final Duration TIME = Duration.ofMinutes(1);

    @Test
    void tablesOfConfigurationAndRowAreThere() throws Exception {
        ToolRegistry tools = registry("statements: ['CREATE TABLE a AS SELECT 1 AS x']");
        ObjectNode kwargs = (ObjectNode) new JsonMapper()
                .readTree("{\"sql\": {\"create_kwargs\": {\"statements\": [\"CREATE TABLE b AS SELECT 'é' AS y\"]}}}");
        try (ToolSession session = tools.open(kwargs, null, String::length, TIME)) {
            assertThat(text(session, "SELECT x, y, NULL AS z FROM a, b")).isEqualTo("x | y | z\n1 | é | NULL");
            assertThat(text(session, "INSERT INTO a VALUES (2), (3)")).isEqualTo("2 rows changed");
            assertThat(text(session, "SELECT sum(x) AS s FROM a")).isEqualTo("s\n6");
            assertThat(text(session, "SELECT x FROM a WHERE x > 9")).isEqualTo("x\n(no rows)");
        }
    }

    @Test
    void twoTrajectoriesHaveTwoDatabases() {
        ToolRegistry tools = registry("threads: 1");
        try (ToolSession one = tools.open(null, null, String::length, TIME);
                ToolSession other = tools.open(null, null, String::length, TIME)) {
            text(one, "CREATE TABLE mine (x INT)");
            assertThat(text(one, "SELECT count(*) AS n FROM mine")).isEqualTo("n\n0");
            assertThat(call(other, "SELECT * FROM mine").error().kind()).isEqualTo(ToolError.Kind.EXCEPTION);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT * FROM read_text('FILE')",
                "SELECT * FROM read_csv('FILE')",
                "SELECT * FROM 'FILE'",
                "SELECT * FROM glob('/*')",
                "COPY (SELECT 1) TO 'FILE.out'",
                "EXPORT DATABASE 'FILE.dir'",
                "ATTACH 'FILE.db'",
                "INSTALL httpfs",
                "LOAD 'FILE'",
                "SET memory_limit = '64GB'",
                "RESET memory_limit",
                "SET enable_external_access = true",
                "SET temp_directory = '/tmp'",
                "PRAGMA enable_profiling = 'json'",
            })
    void nothingOutsideOfTheDatabaseCanBeReached(String sql, @TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("secret.csv"), "secret\n");
        try (ToolSession session = registry("threads: 1").open(null, null, String::length, TIME)) {
            ToolResult result = call(session, sql.replace("FILE", file.toString()));
            assertThat(result.error()).as(result.text()).isNotNull();
            assertThat(result.text()).startsWith("Error: ");
        }
        try (var left = Files.list(folder)) {
            assertThat(left).containsExactly(file);
        }
    }

    @Test
    @Timeout(60)
    void aStatementThatDoesNotEndIsCancelledAndTheDatabaseGoesOn() {
        ToolRegistry tools = registry("timeout_s: 1");
        try (ToolSession session = tools.open(null, null, String::length, TIME)) {
            assertThat(call(session, "SELECT count(*) FROM range(1000000000000)")
                            .text())
                    .contains("Interrupted");
            assertThat(text(session, "SELECT 1 AS x")).isEqualTo("x\n1");
        }
        assertThat(tools.abandonedCallsTotal()).isZero();
    }

    @Test
    @Timeout(60)
    void memoryRowsAndValuesAreBounded() {
        ToolRegistry tools = registry("memory_limit_mb: 32, max_rows: 2, max_characters: 5");
        try (ToolSession session = tools.open(null, null, String::length, TIME)) {
            assertThat(call(session, "CREATE TABLE t AS SELECT hash(range) AS h, range AS i FROM range(20000000)")
                            .text())
                    .contains("Out of Memory");
            assertThat(text(session, "SELECT range AS i FROM range(1000000000000)"))
                    .isEqualTo("i\n0\n1\n(only the first 2 rows)");
            assertThat(text(session, "SELECT 'abcdef' AS x, 'a' || chr(10) || 'b' AS y"))
                    .isEqualTo("x | y\nabcde... | a b");
        }
    }

    @Test
    void wrongSqlIsAnErrorForTheModel() {
        try (ToolSession session = registry("threads: 1").open(null, null, String::length, TIME)) {
            assertThat(call(session, "SELEC 1").text()).contains("syntax error");
            assertThat(call(session, "").error().kind()).isEqualTo(ToolError.Kind.EXCEPTION);
        }
    }

    @Test
    void limitsOutOfRangeAreConfigurationErrors() {
        assertThatThrownBy(() -> registry("memory_limit_mb: 1"))
                .isInstanceOf(InvalidConfigException.class)
                .hasMessageContaining("Invalid memory_limit_mb 1: expected 16 or more");
    }

    private static ToolRegistry registry(String config) {
        return ToolRegistry.builder()
                .nativeTools("tools.yaml", "tools: [{class_name: io.bellows.tool.SqlTool, config: {" + config + "}}]")
                .limits(new ToolLimits(
                        Duration.ofSeconds(30), Duration.ofSeconds(5), 2000, ToolLimits.Truncation.RIGHT, 1, 4))
                .build();
    }

    private static ToolResult call(ToolSession session, String sql) {
        return session.call(
                Tools.call(
                        "sql",
                        new JsonMapper().createObjectNode().put("query", sql).toString()),
                TIME);
    }

    private static String text(ToolSession session, String sql) {
        ToolResult result = call(session, sql);
        assertThat(result.error()).isNull();
        return result.text();
    }
}
