package io.bellows.training;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.bellows.SparkTest;
import io.bellows.data.PromptSchema;
import io.bellows.model.GoldenModel;
import io.bellows.text.ChatTokenizer;
import io.bellows.text.GenerationPrompt;
import io.bellows.text.Message;
import io.bellows.text.SpecialTokens;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.junit.jupiter.api.Test;

class LessonsTest extends SparkTest {

    @Test
    void theToolsOfARowAreInWhatIsLearned() throws IOException {
        Path model = GoldenModel.named("qwen2").folder();
        String tools = "[{\"type\":\"function\",\"function\":{\"name\":\"add\"}}]";
        Message question = Message.of("user", "1+2");
        List<Row> completion = List.of(PromptSchema.row(Message.of("assistant", "3")));
        Row row = RowFactory.create(
                "file:0", 0L, "test", List.of(PromptSchema.row(question)), completion, null, "{}", tools, 10);

        Row lesson = new Lessons(model.toString(), new HashMap<>(), 16)
                .tokenize(spark.createDataFrame(List.of(row), PromptSchema.PROMPT))
                .first();

        try (ChatTokenizer text = ChatTokenizer.load(model, Map.of())) {
            int[] expected = text.encode(List.of(question), new JsonMapper().readTree(tools), GenerationPrompt.ADD)
                    .ids();
            assertThat(lesson.<Integer>getList(lesson.fieldIndex("prompt_ids")))
                    .containsExactlyElementsOf(IntStream.of(expected).boxed().toList());
            assertThat(lesson.getList(lesson.fieldIndex("response_ids"))).isNotEmpty();
        }
    }

    /** The complaint: calls were cleared before the template saw them, so that a model learned to call nothing. */
    @Test
    void aCallWithoutAnyTextIsLearned() throws IOException {
        Path model = GoldenModel.named("qwen2").folder();
        String calls =
                "[{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"add\",\"arguments\":{\"to\":7}}}]";
        Message call = new Message("assistant", "", calls, null, null);
        Row row = RowFactory.create(
                "file:0",
                0L,
                "test",
                List.of(PromptSchema.row(Message.of("user", "1+2"))),
                List.of(PromptSchema.row(call)),
                null,
                "{}",
                null,
                10);
        Row lesson = new Lessons(model.toString(), new HashMap<>(), 200)
                .tokenize(spark.createDataFrame(List.of(row), PromptSchema.PROMPT))
                .first();
        try (ChatTokenizer text = ChatTokenizer.load(model, Map.of())) {
            int[] ids = lesson.<Integer>getList(lesson.fieldIndex("response_ids")).stream()
                    .mapToInt(Integer::intValue)
                    .toArray();
            assertThat(text.tokenizer().decode(ids, SpecialTokens.KEEP)).contains("\"name\": \"add\"", "\"to\": 7");
        }
    }
}
