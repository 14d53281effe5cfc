package io.bellows.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.TextNode;
import io.bellows.SparkTest;
import io.bellows.data.DatasetOptions.BadRows;
import io.bellows.data.DatasetOptions.Completions;
import io.bellows.data.DatasetOptions.Overlong;
import io.bellows.text.ChatTokenizer;
import io.bellows.text.GenerationPrompt;
import io.bellows.text.Message;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.zip.GZIPOutputStream;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PromptDatasetTest extends SparkTest {

    /** One token a character. */
    private static final PromptLength.Source CHARACTERS = () -> (prompt, tools) ->
            prompt.stream().mapToInt(message -> message.content().length()).sum();

    private static final String JANET = "Janet’s ducks lay 16 eggs per day.";

    @TempDir
    private Path folder;

    static String resource(String name) {
        return Path.of("src/test/resources/data").resolve(name).toAbsolutePath().toString();
    }

    private static PromptDataset load(String path, DatasetOptions options) {
        return PromptDataset.load(spark, List.of(path), options, CHARACTERS);
    }

    private String write(String name, String... lines) throws IOException {
        return Files.writeString(folder.resolve(name), String.join("\n", lines)).toString();
    }

    @ParameterizedTest
    @CsvSource({
        "verl_gsm8k.parquet, verl, openai/gsm8k",
        "dapo_like_with_duplicates_and_index.parquet, verl, math_dapo",
        "verl_tools_uneven_structs.parquet, verl, openai/gsm8k",
        "skyrl.parquet, SkyRL, gsm8k",
        "trl_prompt_only_string.jsonl, TRL prompt, trl_prompt_only_string",
        "slime.jsonl, slime, slime",
        "openrlhf.jsonl, OpenRLHF, gsm8k",
        "rlvr.jsonl, RLVR, gsm8k",
        "verifiers.jsonl, verifiers, gsm8k",
        "gsm8k/test.jsonl, GSM8K, openai/gsm8k",
    })
    void everyKnownFileLoadsAsItIs(String file, String layout, String dataSource) {
        try (PromptDataset dataset = load(resource(file), DatasetOptions.defaults())) {
            assertThat(dataset.report().files().get(0).layout()).isEqualTo(layout);
            assertThat(dataset.report().badRows()).isZero();
            assertThat(dataset.report().withoutGroundTruth()).isZero();
            assertThat(dataset.report().flaggedRows()).isZero();
            assertThat(dataset.rows().schema()).isEqualTo(PromptSchema.PROMPT);
            Row first = dataset.rows().orderBy("row_index").first();
            List<Message> prompt = PromptSchema.messages(first, "prompt");
            assertThat(prompt.get(prompt.size() - 1).content()).contains(JANET);
            assertThat(prompt.get(prompt.size() - 1).role()).isEqualTo("user");
            assertThat(first.<String>getAs("ground_truth")).isEqualTo("18");
            assertThat(first.<String>getAs("data_source")).isEqualTo(dataSource);
        }
    }

    @Test
    void badRowsAreReportedWithLineAndReason() {
        String file = resource("bad_rows.jsonl");
        assertThatThrownBy(() -> load(file, DatasetOptions.defaults()))
                .isInstanceOf(InvalidDatasetException.class)
                .hasMessageStartingWith("Cannot read 5 of 7 rows")
                .hasMessageContaining("data.on_bad_row=skip")
                .hasMessageContaining(file + ":2: key 'answer' is missing; the row has [question]")
                .hasMessageContaining(file + ":3: not JSON: ")
                .hasMessageContaining(file + ":4: the line is empty")
                .hasMessageContaining(file + ":5: 'question' is null")
                .hasMessageContaining(file + ":6: 'answer' has no #### before its final answer: no mark")
                .hasMessageNotContaining(file + ":1:")
                .hasMessageNotContaining(file + ":7:");
    }

    @Test
    void badRowsCanBeSkippedAndAreCounted() {
        DatasetOptions skip = Options.with(DatasetOptions.defaults(), BadRows.SKIP);
        try (PromptDataset dataset = load(resource("bad_rows.jsonl"), skip)) {
            LoadReport report = dataset.report();
            assertThat(report.rowsRead()).isEqualTo(7);
            assertThat(report.rowsKept()).isEqualTo(2);
            assertThat(report.badRows()).isEqualTo(5);
            assertThat(report.problems()).extracting(RowProblem::number).containsExactly(2L, 3L, 4L, 5L, 6L);
            assertThat(report.summary()).startsWith("2 rows kept of 7 read, 5 cannot be read\n");
            List<Row> rows = dataset.rows().orderBy("row_index").collectAsList();
            String digest = report.files().get(0).digest();
            assertThat(rows).extracting(row -> row.getAs("prompt_id")).containsExactly(digest + ":0", digest + ":6");
            assertThat(rows).extracting(row -> row.getAs("row_index")).containsExactly(0L, 1L);
            assertThat(rows.get(1).<String>getAs("ground_truth")).isEqualTo("-1234.50");
        }
    }

    @Test
    void unknownColumnsReachTheRewardsByName() {
        try (PromptDataset dataset = load(resource("verifiers.jsonl"), DatasetOptions.defaults())) {
            List<Row> rows = dataset.rows().orderBy("row_index").takeAsList(2);
            // info is an object in one row and a text holding JSON in the next
            assertThat(rows.get(0).<String>getAs("extra"))
                    .isEqualTo("{\"answer\":\"18\",\"info\":{\"level\":0},\"example_id\":0,\"task\":\"gsm8k\","
                            + "\"ground_truth\":\"18\"}");
            assertThat(rows.get(1).<String>getAs("extra")).contains("\"info\":{\"level\":1}");
        }
    }

    @Test
    void fieldsThatParquetAddedToUnevenStructsAreGone() {
        try (PromptDataset dataset = load(resource("verl_tools_uneven_structs.parquet"), DatasetOptions.defaults())) {
            List<Row> rows = dataset.rows().orderBy("row_index").takeAsList(2);
            assertThat(rows.get(0).<String>getAs("extra"))
                    .contains("\"tools_kwargs\":{\"memory\":{\"create_kwargs\":{\"size\":4}}}");
            assertThat(rows.get(1).<String>getAs("extra"))
                    .contains("\"tools_kwargs\":{\"calculator\":{\"create_kwargs\":{\"ground_truth\":\"3\"}}}");
        }
    }

    @Test
    void duplicatesAreCountedAndThePandasIndexIsNoColumn() {
        try (PromptDataset dataset =
                load(resource("dapo_like_with_duplicates_and_index.parquet"), DatasetOptions.defaults())) {
            long distinct = dataset.rows().select("prompt").distinct().count();
            assertThat(distinct).isLessThan(60);
            assertThat(dataset.report().duplicatePrompts()).isEqualTo(60 - distinct);
            assertThat(dataset.report().duplicatePairs()).isEqualTo(60 - distinct);
            assertThat(dataset.rows().first().<String>getAs("extra"))
                    .contains("00000000-0000-4000-8000-000000000000")
                    .doesNotContain("__index_level_0__");
        }
    }

    @Test
    void aPromptWithAnotherAnswerRepeatsThePromptOnly() throws IOException {
        String file = write(
                "a.jsonl",
                "{\"prompt\": \"p\", \"ground_truth\": 1}",
                "{\"prompt\": \"p\", \"ground_truth\": 2}",
                "{\"prompt\": \"p\", \"ground_truth\": 2}");
        try (PromptDataset dataset = load(file, DatasetOptions.defaults())) {
            assertThat(dataset.report().duplicatePrompts()).isEqualTo(2);
            assertThat(dataset.report().duplicatePairs()).isEqualTo(1);
        }
    }

    @Test
    void completionsComeAlong() {
        DatasetOptions learn = Options.with(DatasetOptions.defaults(), Completions.REQUIRED);
        try (PromptDataset dataset = load(resource("trl_prompt_completion_messages.jsonl"), learn)) {
            Row first = dataset.rows().orderBy("row_index").first();
            Message completion = PromptSchema.messages(first, "completion").get(0);
            assertThat(completion.role()).isEqualTo("assistant");
            assertThat(completion.content()).endsWith("#### 18");
            assertThat(first.<String>getAs("extra")).isEqualTo("{}");
        }
        try (PromptDataset dataset = load(resource("gsm8k/test.jsonl"), learn)) {
            Row first = dataset.rows().orderBy("row_index").first();
            assertThat(PromptSchema.messages(first, "completion").get(0).content())
                    .startsWith("Janet sells 16 - 3 - 4 = <<16-3-4=9>>9 duck eggs a day.");
        }
        assertThatThrownBy(() -> load(resource("slime.jsonl"), learn))
                .hasMessageContaining("no completion to learn")
                .hasMessageContaining("data.response_key");
    }

    @Test
    void longPromptsAreRefusedOrFiltered() throws IOException {
        String file =
                write("long.jsonl", "{\"prompt\": \"abc\"}", "{\"prompt\": \"abcdef\"}", "{\"prompt\": \"abcd\"}");
        DatasetOptions refuse = Options.with(DatasetOptions.defaults(), 4, Overlong.REFUSE);
        assertThatThrownBy(() -> load(file, refuse))
                .isInstanceOf(InvalidDatasetException.class)
                .hasMessageContaining("1 prompts are longer than data.max_prompt_length=4 (the longest has 6 tokens)")
                .hasMessageContaining("data.filter_overlong_prompts=true")
                .hasMessageContaining(file + ":2: 6 tokens");
        try (PromptDataset dataset = load(file, Options.with(refuse, 4, Overlong.FILTER))) {
            assertThat(dataset.size()).isEqualTo(2);
            assertThat(dataset.report().overlongRows()).isEqualTo(1);
            assertThat(dataset.report().withoutGroundTruth()).isEqualTo(2);
            assertThat(dataset.rows().orderBy("row_index").collectAsList())
                    .extracting(row -> row.getAs("prompt_length"))
                    .containsExactly(3, 4);
        }
    }

    @Test
    void promptsAreMeasuredAsTheModelSeesThem() throws IOException {
        Path model = Path.of("src/test/resources/golden/tokenizer").toAbsolutePath();
        String file = resource("trl_prompt_only_string.jsonl");
        try (ChatTokenizer tokenizer = ChatTokenizer.load(model, Map.of());
                PromptDataset dataset = PromptDataset.load(
                        spark, List.of(file), DatasetOptions.defaults(), PromptLength.ofModel(model, Map.of()))) {
            Row first = dataset.rows().orderBy("row_index").first();
            List<Message> prompt = PromptSchema.messages(first, "prompt");
            assertThat(first.<Integer>getAs("prompt_length"))
                    .isEqualTo(
                            tokenizer.encode(prompt, null, GenerationPrompt.ADD).ids().length);
        }
    }

    @Test
    void systemPromptAndSuffixFrameThePrompt() throws IOException {
        String file = write(
                "frame.jsonl",
                "{\"prompt\": \"a\"}",
                "{\"prompt\": [{\"role\": \"system\", \"content\": \"own\"}, {\"role\": \"user\", \"content\": \"b\"}]}");
        DatasetOptions framed = new DatasetOptions(
                null,
                null,
                null,
                "data_source",
                "be brief",
                " Why?",
                Completions.OPTIONAL,
                99,
                Overlong.REFUSE,
                BadRows.FAIL,
                -1);
        try (PromptDataset dataset = load(file, framed)) {
            List<Row> rows = dataset.rows().orderBy("row_index").collectAsList();
            assertThat(PromptSchema.messages(rows.get(0), "prompt"))
                    .containsExactly(Message.of("system", "be brief"), Message.of("user", "a Why?"));
            assertThat(PromptSchema.messages(rows.get(1), "prompt"))
                    .containsExactly(Message.of("system", "own"), Message.of("user", "b Why?"));
        }
    }

    @Test
    void severalFilesKeepTheirOrderWhateverTheirKind() throws IOException {
        String lines = write("z.jsonl", "{\"prompt\": \"first\", \"answer\": 1}");
        String list = lines + "," + resource("verl_gsm8k.parquet") + "," + resource("rlvr.jsonl");
        try (PromptDataset dataset = load(list, DatasetOptions.defaults())) {
            List<Row> rows = dataset.rows().orderBy("row_index").collectAsList();
            assertThat(rows).hasSize(1 + 120 + 40);
            assertThat(rows)
                    .extracting(row -> row.getAs("row_index"))
                    .containsExactlyElementsOf(IntStream.range(0, 161)
                            .mapToObj(i -> (Object) (long) i)
                            .toList());
            assertThat(rows.get(0).<String>getAs("data_source")).isEqualTo("z");
            String digest = dataset.report().files().get(1).digest();
            assertThat(rows.get(120).<String>getAs("prompt_id")).isEqualTo(digest + ":119");
        }
    }

    @Test
    void rowsAndOrderDoNotDependOnThePartitioning() {
        List<String> whole = ids();
        String before = spark.conf().get("spark.sql.files.maxPartitionBytes");
        spark.conf().set("spark.sql.files.maxPartitionBytes", "20000");
        spark.conf().set("spark.sql.shuffle.partitions", "7");
        try {
            assertThat(ids()).isEqualTo(whole);
        } finally {
            spark.conf().set("spark.sql.files.maxPartitionBytes", before);
            spark.conf().set("spark.sql.shuffle.partitions", "2");
        }
    }

    private static List<String> ids() {
        try (PromptDataset dataset = load(resource("verl_gsm8k.parquet"), DatasetOptions.defaults())) {
            return dataset.rows().collectAsList().stream()
                    .map(row -> row.<Long>getAs("row_index") + " " + row.<String>getAs("prompt_id"))
                    .toList();
        }
    }

    @Test
    void globsFoldersAndCompressedFilesAreRead() throws IOException {
        Path compressed = folder.resolve("a.jsonl.gz");
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(compressed))) {
            out.write("{\"prompt\": \"zipped\"}\n\n\n".getBytes(StandardCharsets.UTF_8));
        }
        write("b.jsonl", "\uFEFF{\"prompt\": \"marked\"}\r", "");
        write("notes.txt", "not data");
        try (PromptDataset dataset = load(folder.toString(), DatasetOptions.defaults())) {
            assertThat(dataset.report().rowsRead()).isEqualTo(2);
            assertThat(dataset.rows().orderBy("row_index").collectAsList())
                    .extracting(
                            row -> PromptSchema.messages(row, "prompt").get(0).content())
                    .containsExactly("zipped", "marked");
        }
        try (PromptDataset dataset = load(folder + "/{a,c}.jsonl*", DatasetOptions.defaults())) {
            assertThat(dataset.size()).isEqualTo(1);
        }
    }

    @Test
    void missingAndUnknownFilesAreNamedTogether() throws IOException {
        String text = write("notes.txt", "not data");
        assertThatThrownBy(() -> load(folder + "/none.jsonl," + folder + "/none*.parquet", DatasetOptions.defaults()))
                .isInstanceOf(InvalidDatasetException.class)
                .hasMessageContaining("none.jsonl: no such file")
                .hasMessageContaining("none*.parquet: no such file");
        assertThatThrownBy(() -> load(text, DatasetOptions.defaults()))
                .hasMessageContaining("Unsupported dataset file")
                .hasMessageContaining(".jsonl");
    }

    @Test
    void anUnknownLayoutNamesTheColumnsSeen() throws IOException {
        String file = write("odd.jsonl", "{\"frage\": \"a\", \"antwort\": {\"wert\": [1, 2]}}");
        assertThatThrownBy(() -> load(file, DatasetOptions.defaults()))
                .isInstanceOf(InvalidDatasetException.class)
                .hasMessageContaining("Unsupported columns [frage, antwort] in " + file)
                .hasMessageContaining("data.prompt_key");
        DatasetOptions named = new DatasetOptions(
                "frage",
                null,
                "antwort.wert",
                "data_source",
                null,
                null,
                Completions.OPTIONAL,
                99,
                Overlong.REFUSE,
                BadRows.FAIL,
                -1);
        try (PromptDataset dataset = load(file, named)) {
            Row row = dataset.rows().first();
            assertThat(row.<String>getAs("ground_truth")).isEqualTo("[1,2]");
            assertThat(row.<String>getAs("extra")).contains("\"ground_truth\":[1,2]");
        }
        String other = write("other.jsonl", "{\"prompt\": \"a\"}");
        assertThatThrownBy(() -> load(other, named))
                .hasMessageContaining("Invalid data.prompt_key=frage")
                .hasMessageContaining("it has [prompt]");
    }

    @Test
    void preferencesAndArraysAreRefusedWithTheRemedy() throws IOException {
        String pairs = write("pairs.jsonl", "{\"prompt\": \"a\", \"chosen\": \"b\", \"rejected\": \"c\"}");
        String labels = write("labels.jsonl", "{\"prompt\": \"a\", \"completion\": \"b\", \"label\": false}");
        String array = write("array.json", "[{\"prompt\": \"a\"}]");
        assertThatThrownBy(() -> load(pairs + "," + labels + "," + array, DatasetOptions.defaults()))
                .hasMessageContaining("Unsupported preference dataset " + pairs)
                .hasMessageContaining("Unsupported preference dataset " + labels)
                .hasMessageContaining("Unsupported JSON array in " + array);
    }

    @Test
    void hostileLinesAreBadRowsAndNothingMore() throws IOException {
        Path file = folder.resolve("hostile.jsonl");
        try (OutputStream out = Files.newOutputStream(file)) {
            out.write("{\"prompt\": \"fine\", \"ground_truth\": 1e999999999}\n".getBytes(StandardCharsets.UTF_8));
            out.write("{\"prompt\": \"".getBytes(StandardCharsets.UTF_8));
            out.write(new byte[] {(byte) 0xC3, (byte) 0x28, '"', '}', '\n'});
            out.write(("{\"prompt\": " + "[".repeat(100_000) + "\n").getBytes(StandardCharsets.UTF_8));
            out.write("{\"prompt\": \"a\"} {\"prompt\": \"b\"}\n".getBytes(StandardCharsets.UTF_8));
            out.write("{\"prompt\": \"a\", \"prompt\": \"b\"}\n".getBytes(StandardCharsets.UTF_8));
            out.write("{\"prompt\": [{\"content\": \"no role\"}]}\n".getBytes(StandardCharsets.UTF_8));
            out.write("{\"prompt\": 7}\n[1]\n".getBytes(StandardCharsets.UTF_8));
        }
        DatasetOptions skip = Options.with(DatasetOptions.defaults(), BadRows.SKIP);
        try (PromptDataset dataset = load(file.toString(), skip)) {
            assertThat(dataset.report().problems())
                    .extracting(RowProblem::number)
                    .containsExactly(2L, 3L, 4L, 5L, 6L, 7L, 8L);
            assertThat(dataset.rows().first().<String>getAs("ground_truth")).isEqualTo("1E+999999999");
        }
    }

    @Test
    void jsonThatCannotBeReadInAColumnIsKeptAsTextAndFlagged() throws IOException {
        String file = write("flag.jsonl", "{\"question\": \"a\", \"answer\": \"1\", \"info\": \"{broken\"}");
        try (PromptDataset dataset = load(file, DatasetOptions.defaults())) {
            assertThat(dataset.report().flaggedRows()).isEqualTo(1);
            assertThat(dataset.report().flags().get(0).toString())
                    .startsWith(file + ":1: 'info' is kept as text: not JSON");
            assertThat(dataset.rows().first().<String>getAs("extra")).contains("\"info\":\"{broken\"");
        }
    }

    @Test
    void aPromptThatTheTemplateRefusesIsABadRow() throws IOException {
        String file = write("refused.jsonl", "{\"prompt\": \"a\"}");
        PromptLength.Source refusing = () -> (prompt, tools) -> {
            throw new IllegalStateException("roles must alternate");
        };
        assertThatThrownBy(() -> PromptDataset.load(spark, List.of(file), DatasetOptions.defaults(), refusing))
                .hasMessageContaining(file + ":1: the prompt cannot be rendered: roles must alternate");
    }

    @Test
    void toolCallArgumentsBecomeObjects() throws IOException {
        String file = write(
                "tools.jsonl",
                "{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}, {\"role\": \"assistant\", \"content\": \"\", \"tool_calls\":"
                        + " [{\"id\": \"1\", \"type\": \"function\", \"function\": {\"name\": \"f\", \"arguments\": \"{\\\"x\\\": 1}\"}}]}]}");
        try (PromptDataset dataset = load(file, DatasetOptions.defaults())) {
            Row row = dataset.rows().first();
            assertThat(PromptSchema.messages(row, "prompt")).containsExactly(Message.of("user", "a"));
            assertThat(PromptSchema.messages(row, "completion").get(0).toolCalls())
                    .isEqualTo(
                            "[{\"id\":\"1\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":{\"x\":1}}}]");
        }
    }

    @Test
    void functionSchemasReachThePromptHoweverTheyAreWritten() throws IOException {
        String schema = "{\"type\":\"function\",\"function\":{\"name\":\"f\"}}";
        String quoted = new TextNode(schema).toString();
        String file = write(
                "schemas.jsonl",
                String.join(
                        "\n",
                        "{\"prompt\": \"a\", \"tools\": [" + schema + "]}",
                        "{\"prompt\": \"b\", \"tools\": [" + quoted + "]}",
                        "{\"prompt\": \"c\", \"tools\": " + new TextNode("[" + schema + "]") + "}",
                        "{\"prompt\": \"d\", \"tool_defs\": [" + schema + "]}",
                        "{\"prompt\": \"e\", \"tools\": []}",
                        "{\"prompt\": \"f\", \"tools\": [\"calculator\"]}"));
        PromptLength.Source countingTools = () -> (prompt, tools) -> tools == null ? 1 : 1 + tools.size();
        try (PromptDataset dataset =
                PromptDataset.load(spark, List.of(file), DatasetOptions.defaults(), countingTools)) {
            List<Row> rows = dataset.rows().collectAsList();
            assertThat(rows)
                    .extracting(row -> row.<String>getAs("tools"))
                    .containsExactly(
                            "[" + schema + "]", "[" + schema + "]", "[" + schema + "]", "[" + schema + "]", null, null);
            assertThat(rows)
                    .extracting(row -> row.<Integer>getAs("prompt_length"))
                    .containsExactly(2, 2, 2, 2, 1, 1);
            assertThat(dataset.report().flags()).hasSize(1);
            assertThat(dataset.report().flags().get(0).toString())
                    .isEqualTo(file + ":6: 'tools' stays out of the prompt: \"calculator\" is no function schema");
        }
    }

    @Test
    void batchesComeInTheOrderOfTheEpoch() {
        try (PromptDataset dataset =
                load(resource("rlvr.jsonl"), DatasetOptions.defaults().withMaxSamples(10))) {
            assertThat(dataset.size()).isEqualTo(10);
            EpochOrder order = new EpochOrder(10, 1, EpochOrder.Shuffle.EACH_EPOCH, EpochOrder.Remainder.DROP);
            EpochOrder.Batch batch = order.batch(Cursor.START, 4);
            List<Row> rows = dataset.batch(batch, 0).collectAsList();
            assertThat(rows).extracting(row -> row.getAs("position")).containsExactly(0, 1, 2, 3);
            assertThat(rows.stream()
                            .mapToLong(row -> row.<Long>getAs("row_index"))
                            .toArray())
                    .isEqualTo(batch.rowIndices());
        }
    }
}
