package io.bellows.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SqlCommandTest {

    @Test
    void aTableForPeople() {
        CommandLineRun run = CommandLineRun.of("sql", "SELECT 1 AS a, array(1, 2) AS b, CAST(NULL AS STRING) AS c");

        assertThat(run.exitCode()).isZero();
        assertThat(run.out()).isEqualTo("""
                a  b       c
                -  ------  ----
                1  [1, 2]  NULL
                """);
    }

    @Test
    void theSameForProgramsWithTypesAndNulls() {
        CommandLineRun run =
                CommandLineRun.of("sql", "--json", "SELECT 1 AS a, array(1, 2) AS b, CAST(NULL AS STRING) AS c");

        assertThat(run.lines()).hasSize(1);
        assertThat(run.result().get("rows").toString()).isEqualTo("[{\"a\":1,\"b\":[1,2],\"c\":null}]");
        assertThat(run.result().get("truncated").asBoolean()).isFalse();
    }

    @Test
    void theFunctionsOfBellowsAreThere() {
        CommandLineRun run = CommandLineRun.of("sql", "--json", "SELECT grpo_advantage(array(1, 0), false) AS a");

        assertThat(run.result().get("rows").toString()).isEqualTo("[{\"a\":[0.5,-0.5]}]");
    }

    @Test
    void moreRowsThanTheLimitAreCutAndSaid() {
        CommandLineRun run = CommandLineRun.of("sql", "--json", "--limit", "2", "SELECT id FROM range(5) ORDER BY id");

        assertThat(run.result().get("rows")).hasSize(2);
        assertThat(run.result().get("truncated").asBoolean()).isTrue();
        assertThat(run.err()).contains("--limit 0");
    }

    @Test
    void aTableOfARunWithoutTheRunIsAUsageErrorThatSaysWhatToAdd() {
        CommandLineRun run = CommandLineRun.of("sql", "SELECT * FROM metrics");

        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err()).contains("metrics", "bellows sql RUN").doesNotContain("\tat ");
    }

    @Test
    void whatIsNoSqlIsAUsageErrorThatPointsAtThePlace() {
        CommandLineRun run = CommandLineRun.of("sql", "SELEC 1");

        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err()).contains("SELEC", "^^^");
    }

    @Test
    void aFolderThatIsNoRunIsNamed() {
        assertThat(CommandLineRun.of("sql", "target", "SELECT 1").err()).contains("Cannot open the run", "target");
    }
}
