package io.bellows.trajectory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bellows.SparkTest;
import io.bellows.reward.RewardOutcome;
import io.bellows.reward.RewardScore;
import io.bellows.text.Message;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericRecord;
import org.apache.hadoop.conf.Configuration;
import org.apache.parquet.avro.AvroParquetReader;
import org.apache.parquet.avro.AvroParquetWriter;
import org.apache.parquet.avro.AvroReadSupport;
import org.apache.parquet.avro.AvroWriteSupport;
import org.apache.parquet.hadoop.ParquetReader;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.util.HadoopInputFile;
import org.apache.parquet.hadoop.util.HadoopOutputFile;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SchemasTest extends SparkTest {

    @TempDir
    Path folder;

    @Test
    void everyTableHasItsKeysFirst() {
        for (Table table : Table.values()) {
            assertThat(Schemas.struct(table).fieldNames()).startsWith("run_id", "iteration");
        }
    }

    @Test
    void arraysHoldNoNulls() {
        assertThat(Schemas.struct(Table.TRAJECTORIES)
                        .apply("rollout_log_probs")
                        .dataType()
                        .simpleString())
                .isEqualTo("array<float>");
        assertThat(Schemas.struct(Table.TRAJECTORIES).json()).doesNotContain("\"containsNull\":true");
        assertThat(Schemas.struct(Table.EXPERIENCE).json()).doesNotContain("\"containsNull\":true");
    }

    @Test
    void parquetOfSparkReadsWithAvroOutsideSpark() throws IOException {
        Dataset<Row> rows =
                spark.createDataset(List.of(trajectory().toRow()), Encoders.row(Schemas.struct(Table.TRAJECTORIES)));
        rows.coalesce(1).write().parquet(folder.resolve("table").toString());

        GenericRecord record = readOne(Table.TRAJECTORIES, parquetFile(folder.resolve("table")));

        assertThat(record.getSchema()).isEqualTo(Schemas.avro(Table.TRAJECTORIES));
        assertThat(record.get("group_id")).hasToString("run/3/17");
        assertThat(record.get("response_ids")).isEqualTo(List.of(7, 8, 9));
        assertThat(record.get("rollout_log_probs")).isEqualTo(List.of(-0.5f, -0.25f, 0f));
        GenericRecord message = (GenericRecord) ((List<?>) record.get("completion")).get(0);
        assertThat(message.get("content")).hasToString("five");
        assertThat(message.get("tool_calls")).isNull();
        GenericRecord turn = (GenericRecord) ((List<?>) record.get("turns")).get(0);
        assertThat(turn.get("finish_reason")).hasToString("stop");
        assertThat(turn.get("reward")).isNull();
        assertThat(((GenericRecord) record.get("score")).get("reward")).isEqualTo(1.0);
        assertThat(record.get("score").toString()).contains("\"judge\": null");
    }

    @Test
    void parquetOfAvroReadsWithSpark() throws IOException {
        Dataset<Row> rows =
                spark.createDataset(List.of(trajectory().toRow()), Encoders.row(Schemas.struct(Table.TRAJECTORIES)));
        rows.coalesce(1).write().parquet(folder.resolve("table").toString());
        Path copy = folder.resolve("copy.parquet");
        write(Table.TRAJECTORIES, readOne(Table.TRAJECTORIES, parquetFile(folder.resolve("table"))), copy);

        List<Row> read = spark.read()
                .schema(Schemas.struct(Table.TRAJECTORIES))
                .parquet(copy.toString())
                .collectAsList();

        assertThat(read).isEqualTo(rows.collectAsList());
    }

    @Test
    void aNullWhereTheSchemaHasNoneIsRefused() {
        Row row = new Metric("run", 1, null, 0.5).toRow();

        assertThatThrownBy(() -> spark.createDataset(List.of(row), Encoders.row(Schemas.struct(Table.METRICS)))
                        .collectAsList())
                .hasStackTraceContaining("name");
    }

    @Test
    void recordsFillTheirTables() {
        RewardScore failed =
                new RewardScore(null, components("exact_match", null), RewardOutcome.Status.FAILED, "it broke");
        Row score = Score.of(failed).toRow(trajectory().key(), "sums");

        Row read = spark.createDataset(List.of(score), Encoders.row(Schemas.struct(Table.SCORES)))
                .first();

        assertThat(read.<Double>getAs("reward")).isNull();
        assertThat(read.<String>getAs("status")).isEqualTo("failed");
        assertThat(read.<String>getAs("trajectory_id")).isEqualTo("run/3/17/2");
        assertThat(read.getJavaMap(read.fieldIndex("rewards"))).containsEntry("exact_match", null);
    }

    @Test
    void tokensOfUnequalLengthsAreRefusedWhereTheyAreBorn() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Tokens(new int[] {1}, new int[] {2, 3}, new int[] {1, 1}, new float[] {-1}))
                .withMessage(
                        "Invalid trajectory: 2 response ids, 2 mask values and 1 log-probabilities; all three must be"
                                + " of one length");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Tokens.sampled(new int[] {1}, new int[] {2}, new float[] {Float.NaN}))
                .withMessageContaining("response token 0 has mask 1 and log-probability NaN");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Tokens(new int[] {1}, new int[] {2}, new int[] {0}, new float[] {-1}))
                .withMessageContaining("mask 0 with 0");
    }

    private static Trajectory trajectory() {
        RewardScore score = new RewardScore(1.0, components("judge", null), RewardOutcome.Status.SCORED, null);
        return new Trajectory(
                TrajectoryKey.of("run", 3, 17, "ab:4", 2),
                0,
                "sums",
                "single_turn",
                0,
                2,
                List.of(Message.of("user", "2+3")),
                List.of(new Message("assistant", "five", null, null, null)),
                new Tokens(new int[] {1, 2}, new int[] {7, 8, 9}, new int[] {1, 1, 0}, new float[] {-0.5f, -0.25f, 0f}),
                List.of(new Turn(0, 2, "stop", false, null, 12, 0)),
                Outcome.completed("eos"),
                Map.of("num_turns", 1.0),
                Map.of("generate", 0.012),
                null,
                "5",
                "{}",
                Score.of(score));
    }

    private static Map<String, Double> components(String name, Double value) {
        Map<String, Double> components = new LinkedHashMap<>();
        components.put(name, value);
        return components;
    }

    private static Path parquetFile(Path table) throws IOException {
        try (Stream<Path> files = Files.list(table)) {
            return files.filter(file -> file.toString().endsWith(".parquet"))
                    .findFirst()
                    .orElseThrow();
        }
    }

    private static GenericRecord readOne(Table table, Path file) throws IOException {
        Configuration hadoop = new Configuration();
        hadoop.setBoolean(AvroReadSupport.AVRO_COMPATIBILITY, false);
        hadoop.setBoolean("parquet.avro.add-list-element-records", false);
        Schema schema = Schemas.avro(table);
        AvroReadSupport.setAvroReadSchema(hadoop, schema);
        try (ParquetReader<GenericRecord> reader = AvroParquetReader.<GenericRecord>builder(
                        HadoopInputFile.fromPath(new org.apache.hadoop.fs.Path(file.toUri()), hadoop))
                .withConf(hadoop)
                .build()) {
            return reader.read();
        }
    }

    private static void write(Table table, GenericRecord record, Path file) throws IOException {
        Configuration hadoop = new Configuration();
        hadoop.setBoolean(AvroWriteSupport.WRITE_OLD_LIST_STRUCTURE, false);
        try (ParquetWriter<GenericRecord> writer = AvroParquetWriter.<GenericRecord>builder(
                        HadoopOutputFile.fromPath(new org.apache.hadoop.fs.Path(file.toUri()), hadoop))
                .withConf(hadoop)
                .withSchema(Schemas.avro(table))
                .build()) {
            writer.write(record);
        }
    }
}
