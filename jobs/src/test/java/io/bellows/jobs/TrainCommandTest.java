package io.bellows.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.bellows.udfs.BellowsExtensions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("slow")
class TrainCommandTest {

    @TempDir
    private Path folder;

    @Test
    void aRunEndsWithItsTableItsChartOneObjectAndViewsOverWhatItCommitted() throws IOException {
        CommandLineRun run = train("1");
        CommandLineRun resumed = train("2");

        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(run.lines()).hasSize(1);
        assertThat(run.result().get("iterations").asInt()).isEqualTo(1);
        assertThat(run.result().get("accuracy_start").isNumber()).isTrue();
        assertThat(run.result().get("accuracy_end").isNumber()).isTrue();
        assertThat(run.result().get("seconds").asDouble()).isPositive();
        assertThat(run.result().get("run").asText())
                .isEqualTo(folder.resolve("run").toRealPath().toString());
        assertThat(run.err()).contains("model ", "step:1 - critic/rewards/mean:", "accuracy ");
        assertThat(folder.resolve("run/chart.png")).exists();
        assertThat(resumed.result().get("iterations").asInt()).isEqualTo(2);
        assertThat(sql("SELECT iteration, count(*) AS n FROM trajectories GROUP BY 1 ORDER BY 1"))
                .isEqualTo("[{\"iteration\":1,\"n\":6},{\"iteration\":2,\"n\":6}]");
        theAdvantagesThatAQueryComputesAreThoseOfTheRun();
    }

    private void theAdvantagesThatAQueryComputesAreThoseOfTheRun() throws IOException {
        String computed = """
                SELECT trajectory_id, transform(response_mask, m -> IF(m = 1, grpo_advantage(scores)[place - 1], 0)) AS advantages
                FROM (SELECT trajectory_id, response_mask,
                             collect_list(coalesce(reward, double('NaN'))) OVER (PARTITION BY group_id ORDER BY sample_index
                                 ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS scores,
                             row_number() OVER (PARTITION BY group_id ORDER BY sample_index) AS place
                      FROM trajectories JOIN (SELECT trajectory_id, reward FROM scores) USING (trajectory_id))
                """; // the query of README.md
        String compared = "SELECT count(*) AS n, count_if(CAST(c.advantages AS ARRAY<FLOAT>) = e.advantages) AS equal,"
                + " any(exists(e.advantages, a -> a <> 0)) AS telling"
                + " FROM (" + computed + ") c JOIN experience e USING (trajectory_id)";

        assertThat(sql(compared)).isEqualTo("[{\"n\":12,\"equal\":12,\"telling\":true}]");
        assertThat(plainSession(compared)).isEqualTo(RowFactory.create(12L, 12L, true));
    }

    private Row plainSession(String query) throws IOException {
        try (SparkSession session = SparkSession.builder()
                .master("local[1]")
                .config("spark.ui.enabled", "false")
                .config("spark.sql.extensions", BellowsExtensions.class.getName())
                .getOrCreate()) {
            for (String table : List.of("trajectories", "scores", "experience")) {
                session.read()
                        .parquet(folder.resolve("run/iterations/*").resolve(table) + "/attempt-*")
                        .createOrReplaceTempView(table);
            }
            return session.sql(query).first();
        }
    }

    private String sql(String query) {
        CommandLineRun run =
                CommandLineRun.of("sql", "--json", folder.resolve("run").toString(), query);
        assertThat(run.exitCode()).as(run.err()).isZero();
        return run.result().get("rows").toString();
    }

    private CommandLineRun train(String iterations) throws IOException {
        Path data = Files.writeString(folder.resolve("data.jsonl"), """
                {"question": "1 + 1", "answer": "#### 2"}
                {"question": "2 + 1", "answer": "#### 3"}
                {"question": "3 + 1", "answer": "#### 4"}
                {"question": "4 + 1", "answer": "#### 5"}
                """);
        Path config = Files.writeString(folder.resolve("config.yaml"), """
                data: {train_batch_size: 2, max_prompt_length: 40, max_response_length: 12}
                model: {path: ../pipeline/src/test/resources/golden/models/qwen2}
                rollout: {n: 3}
                reward: {functions: [{name: format_match, pattern: '([aeiou].*){4}'}]}
                actor: {ppo_mini_batch_size: 2}
                trainer: {test_freq: 1}
                spark: {master: 'local[2]'}
                """);
        return CommandLineRun.of(
                "train",
                "--json",
                "-c",
                config.toString(),
                "data.train_files=" + data,
                "data.val_files=" + data,
                "trainer.default_local_dir=" + folder.resolve("run"),
                "trainer.total_training_steps=" + iterations);
    }
}
