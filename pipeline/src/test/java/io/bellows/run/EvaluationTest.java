package io.bellows.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.bellows.SparkTest;
import io.bellows.client.Protocol;
import io.bellows.client.Servers;
import io.bellows.client.Wire;
import io.bellows.config.BellowsConfig;
import io.bellows.config.InvalidConfigException;
import io.bellows.config.Purpose;
import io.bellows.run.EvaluationReport.Average;
import io.bellows.serving.RunningServer;
import io.bellows.trajectory.Table;
import io.bellows.udfs.statistics.PassAtK;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Evaluations of the calculator starter, in process and behind our own server. */
class EvaluationTest extends SparkTest {

    private static final Path STARTER = Path.of("../data-samples/calculator-starter");
    private static final String SOURCE = "bellows/products";

    private static RunningServer server;

    @TempDir
    private Path folder;

    @BeforeAll
    static void serve() throws IOException {
        server = new RunningServer(STARTER, 300);
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private BellowsConfig config(String name, String... overrides) {
        return config(Purpose.EVAL, name, overrides);
    }

    private BellowsConfig config(Purpose purpose, String name, String... overrides) {
        List<String> all = new ArrayList<>(List.of(
                "data.val_files=../data-samples/products/validation.jsonl",
                "data.val_max_samples=6",
                "data.max_prompt_length=64",
                "data.max_response_length=192",
                "model.path=" + STARTER,
                "rollout.max_num_seqs=8",
                "rollout.multi_turn.enable=true",
                "rollout.multi_turn.max_assistant_turns=3",
                "rollout.multi_turn.tool_config_path=../conf/tools/calculator.yaml",
                "rollout.multi_turn.max_tool_response_length=96",
                "trainer.default_local_dir=" + folder.resolve(name)));
        all.addAll(List.of(overrides));
        return BellowsConfig.load(null, all, purpose);
    }

    private static Servers servers(Protocol protocol, int maxRetries, URI... addresses) {
        return new Servers(List.of(addresses), "calculator-starter", protocol, null, Duration.ofMinutes(2), maxRetries);
    }

    private EvaluationReport evaluate(BellowsConfig config, Servers servers) {
        return new Evaluation(spark, config, servers, Progress.NONE).run();
    }

    private List<Row> rows(String name, Table table, String... columns) {
        RunDirectory run = RunDirectory.open(spark, folder.resolve(name).toString());
        return run.committed(table)
                .orderBy("group_id", "sample_index", "status")
                .selectExpr(columns)
                .collectAsList();
    }

    @Test
    void greedyAnswersOverHttpAreThoseInProcess() {
        EvaluationReport inProcess = evaluate(config("here"), null);
        EvaluationReport byIds = evaluate(config("ids"), servers(Protocol.COMPLETIONS, 0, server.address()));
        EvaluationReport byMessages = evaluate(config("chat"), servers(Protocol.CHAT, 0, server.address()));

        String[] told = {
            "group_id LIKE '%/0/%'",
            "sample_index",
            "prompt",
            "completion",
            "prompt_ids",
            "response_ids",
            "response_mask",
            "status",
            "stop_condition",
            "env",
            "ground_truth"
        };
        assertThat(rows("ids", Table.TRAJECTORIES, told)).hasSize(6).isEqualTo(rows("here", Table.TRAJECTORIES, told));
        assertThat(logProbs("ids")).containsExactly(logProbs("here"), within(1e-4));
        assertThat(rows("chat", Table.TRAJECTORIES, "completion", "status", "stop_condition"))
                .isEqualTo(rows("here", Table.TRAJECTORIES, "completion", "status", "stop_condition"));
        for (EvaluationReport report : List.of(byIds, byMessages)) {
            assertThat(report.failed()).isZero();
            assertThat(report.retries()).isZero();
            assertThat(report.sources().get(SOURCE).reward())
                    .isEqualTo(inProcess.sources().get(SOURCE).reward());
            assertThat(report.sources().get(SOURCE).passAtK())
                    .isEqualTo(inProcess.sources().get(SOURCE).passAtK());
        }
        assertThat(rows("ids", Table.SCORES, "sample_index", "reward", "rewards", "status"))
                .hasSize(6)
                .isEqualTo(rows("here", Table.SCORES, "sample_index", "reward", "rewards", "status"));
    }

    @Test
    void ofAModelBehindServersOnlyTheTokenizerAndTheTemplateAreRead() throws IOException {
        Path text = Files.createDirectories(folder.resolve("text"));
        for (String name : List.of("tokenizer.json", "tokenizer_config.json")) {
            Files.copy(STARTER.resolve(name), text.resolve(name));
        }
        String model = "model.path=" + text;
        BellowsConfig config = config(Purpose.EVAL_OF_SERVERS, "elsewhere", model, "data.val_max_samples=2");
        EvaluationReport report = evaluate(config, servers(Protocol.COMPLETIONS, 0, server.address()));
        assertThat(report.trajectories()).isEqualTo(2);
        assertThat(report.failed()).isZero();

        Files.writeString(text.resolve("config.json"), "{\"model_type\": \"of_next_year\"}");
        assertThat(config(Purpose.EVAL_OF_SERVERS, "elsewhere", model).model().path())
                .isEqualTo(text.toString());
        assertThatThrownBy(() -> config(Purpose.EVAL, "elsewhere", model)).hasMessageContaining("of_next_year");
    }

    @Test
    void anEvaluationInProcessSaysWhatMemoryItTakes() {
        List<Map<String, String>> headers = new ArrayList<>();
        BellowsConfig config = config("memory", "data.val_max_samples=1");
        Progress shown = new Progress() {
            @Override
            public void header(Map<String, String> facts) {
                headers.add(facts);
            }

            @Override
            public Stage start(int iteration, String name, long total, String unit) {
                return units -> {};
            }

            @Override
            public void metrics(int iteration, Map<String, Double> metrics) {}

            @Override
            public void message(String line) {}
        };
        new Evaluation(spark, config, null, shown).run();
        assertThat(headers)
                .singleElement()
                .satisfies(facts -> assertThat(facts.get("memory"))
                        .contains("policy ", "KV cache ", "rollout ")
                        .doesNotContain("optimizer"));
        assertThatThrownBy(() -> evaluate(config("memory-2", "rollout.max_num_seqs=2000000000"), null))
                .isInstanceOf(InvalidConfigException.class)
                .hasMessageContaining("Cannot start: ")
                .hasMessageContaining("KV cache ");
    }

    private double[] logProbs(String name) {
        return rows(name, Table.TRAJECTORIES, "explode(rollout_log_probs)").stream()
                .mapToDouble(row -> row.getFloat(0))
                .toArray();
    }

    @Test
    void sampledConversationsWithToolsAreCountedAndAveraged() {
        EvaluationReport report = evaluate(
                config(
                        "tools",
                        "rollout.val_kwargs.n=6",
                        "rollout.val_kwargs.do_sample=true",
                        "rollout.val_kwargs.temperature=1.0"),
                servers(Protocol.CHAT, 0, server.address()));

        EvaluationReport.Source source = report.sources().get(SOURCE);
        assertThat(report.trajectories()).isEqualTo(36);
        assertThat(report.failed()).isZero();
        assertThat(source.reward().count()).isEqualTo(36);
        assertThat(source.metrics().get("calculator_calls").count()).isPositive();
        assertThat(source.metrics().get("tool_calls_succeeded").mean()).isEqualTo(1);
        assertThat(source.accuracy().mean()).isPositive();
        assertThat(source.passAtK()).containsOnlyKeys(1, 2, 4, 6);
        assertThat(source.passAtK().get(1).mean()).isCloseTo(source.accuracy().mean(), within(1e-12));
        assertThat(source.passAtK().get(4)).isEqualTo(passAt4());
        assertThat(source.passHatK().get(6).mean())
                .isLessThanOrEqualTo(source.passHatK().get(1).mean());
        RunDirectory run = RunDirectory.open(spark, folder.resolve("tools").toString());
        assertThat(run.committed(Table.METRICS)
                        .where("name = 'val-aux/bellows/products/acc/pass@4'")
                        .head()
                        .<Double>getAs("value"))
                .isEqualTo(passAt4().mean());
    }

    private Average passAt4() {
        Map<String, Integer> right = new TreeMap<>();
        rows("tools", Table.SCORES, "group_id", "reward")
                .forEach(row -> right.merge(row.getString(0), (int) row.getDouble(1), Integer::sum));
        double mean = right.values().stream()
                .mapToDouble(correct -> PassAtK.estimate(6, correct, 4))
                .average()
                .orElseThrow();
        return new Average(mean, right.size());
    }

    @Test
    void aServerKilledInTheMiddleCostsRetriesAndNoTrajectory() throws IOException {
        try (Wire killed = new Wire(server.port(), 5);
                Wire alive = new Wire(server.port(), 0)) {
            EvaluationReport report = evaluate(
                    config("killed", "data.val_max_samples=24"),
                    servers(Protocol.COMPLETIONS, 8, killed.address(), alive.address()));

            assertThat(killed.requests()).as("it was killed while it answered").isEqualTo(5);
            assertThat(report.trajectories()).isEqualTo(24);
            assertThat(report.failed()).isZero();
            assertThat(report.retries()).isPositive();
            assertThat(rows("killed", Table.TRAJECTORIES, "trajectory_id", "attempt", "metrics['model_retries']"))
                    .hasSize(24)
                    .allMatch(row -> row.getInt(1) == 0)
                    .anyMatch(row -> !row.isNullAt(2) && row.getDouble(2) >= 1);
            assertThat(alive.requests()).isGreaterThanOrEqualTo(24 - 5);
        }
    }

    @Test
    void anEvaluationStartedAgainRunsWhatFailedAndNothingElse() throws IOException {
        BellowsConfig config = config("again", "data.val_max_samples=12", "rollout.max_num_seqs=4");
        EvaluationReport first;
        try (Wire killed = new Wire(server.port(), 8)) {
            first = evaluate(config, servers(Protocol.COMPLETIONS, 0, killed.address()));
        }
        assertThat(first.trajectories()).isEqualTo(12);
        assertThat(first.failed()).isBetween(1L, 11L);
        long scored = rows("again", Table.SCORES, "trajectory_id").size();
        assertThat(scored).isEqualTo(12 - first.failed());

        try (Wire wire = new Wire(server.port(), 0)) {
            EvaluationReport second = evaluate(config, servers(Protocol.COMPLETIONS, 0, wire.address()));

            assertThat(second.failed()).isZero();
            assertThat(second.trajectories()).isEqualTo(12);
            assertThat((long) rows("again", Table.TRAJECTORIES, "trajectory_id").size())
                    .isEqualTo(12 + first.failed());
            assertThat(rows("again", Table.TRAJECTORIES, "attempt", "status").stream()
                            .filter(row -> row.getInt(0) == 1))
                    .hasSize((int) first.failed())
                    .noneMatch(row -> row.getString(1).equals("failed"));
            assertThat(rows("again", Table.SCORES, "trajectory_id").stream().distinct())
                    .as("one score each")
                    .hasSize(12);
            assertThat(rows("again", Table.SCORES, "trajectory_id")).hasSize(12);

            int asked = wire.requests();
            assertThat(evaluate(config, servers(Protocol.COMPLETIONS, 0, wire.address())))
                    .isEqualTo(second);
            assertThat(wire.requests()).as("nothing was left to do").isEqualTo(asked);
        }
    }

    @Test
    void anEvaluationIsNotContinuedWithAnotherModel() {
        BellowsConfig config = config("model", "data.val_max_samples=1");
        evaluate(config, servers(Protocol.COMPLETIONS, 0, server.address()));

        assertThatThrownBy(() -> evaluate(config, null))
                .isInstanceOf(InvalidRunException.class)
                .hasMessageContaining("Cannot continue the evaluation in")
                .hasMessageContaining("choose another directory with -o");
    }

    @Test
    void serversThatAllFailEndTheEvaluationAndAreSaidByName() throws IOException {
        Wire gone = new Wire(server.port(), 0);
        gone.close();

        assertThatThrownBy(() -> evaluate(config("gone"), servers(Protocol.COMPLETIONS, 0, gone.address())))
                .isInstanceOf(InvalidRunException.class)
                .hasMessageContaining("Cannot evaluate: all 6 trajectories of a round failed")
                .hasMessageContaining(gone.address() + "/completions");
    }
}
