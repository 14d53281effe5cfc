package io.bellows.training;

import com.fasterxml.jackson.databind.JsonNode;
import io.bellows.data.PromptSchema;
import io.bellows.text.ChatTokenizer;
import io.bellows.text.GenerationPrompt;
import io.bellows.text.Message;
import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Turns rows of prompt and completion into token ids: the loss is on what the assistant says, its end token included.
 *
 * @param modelFolder folder with tokenizer and chat template
 * @param templateVariables extra variables of the chat template
 * @param maxResponseLength longest completion in tokens
 */
public record Lessons(String modelFolder, Map<String, Object> templateVariables, int maxResponseLength)
        implements Serializable {

    private static final ArrayType IDS = DataTypes.createArrayType(DataTypes.IntegerType, false);

    /** Rows of {@code row_index, trajectory_id, prompt_ids, response_ids, response_mask}. */
    private static final StructType SCHEMA = new StructType()
            .add("row_index", DataTypes.LongType, false)
            .add("trajectory_id", DataTypes.StringType, false)
            .add("prompt_ids", IDS, false)
            .add("response_ids", IDS, false)
            .add("response_mask", IDS, false);

    /**
     * Tokenizes rows.
     *
     * @param prompts rows of {@link PromptSchema#PROMPT} with completions
     * @return {@code row_index, trajectory_id, prompt_ids, response_ids, response_mask}
     */
    public Dataset<Row> tokenize(Dataset<Row> prompts) {
        return prompts.mapPartitions(
                (MapPartitionsFunction<Row, Row>) rows -> {
                    List<Row> out = new ArrayList<>();
                    try (ChatTokenizer tokenizer = ChatTokenizer.load(Path.of(modelFolder), templateVariables)) {
                        while (rows.hasNext()) {
                            out.add(lesson(rows.next(), tokenizer));
                        }
                    }
                    return out.iterator();
                },
                Encoders.row(SCHEMA));
    }

    private Row lesson(Row row, ChatTokenizer tokenizer) throws IOException {
        List<Message> prompt = PromptSchema.messages(row, "prompt");
        List<Message> all = new ArrayList<>(prompt);
        all.addAll(PromptSchema.messages(row, "completion"));
        String id = row.getAs("prompt_id");
        JsonNode tools = PromptSchema.tools(row);
        int[] promptIds = tokenizer.encode(prompt, tools, GenerationPrompt.ADD).ids();
        int[] allIds = tokenizer.encode(all, tools, GenerationPrompt.NONE).ids();
        if (allIds.length <= promptIds.length || !Arrays.equals(promptIds, Arrays.copyOf(allIds, promptIds.length))) {
            throw new IllegalArgumentException("Cannot learn row " + id + ": the chat template of " + modelFolder
                    + " renders the conversation differently from its prompt, so what to learn cannot be told apart");
        }
        int end = lastEnd(allIds, promptIds.length, tokenizer.tokenizer().stopIds());
        int[] response = Arrays.copyOfRange(allIds, promptIds.length, end);
        if (response.length > maxResponseLength) {
            throw new IllegalArgumentException("Cannot learn row " + id + ": its completion has " + response.length
                    + " tokens, data.max_response_length is " + maxResponseLength + "; raise it or shorten the row");
        }
        int[] mask = new int[response.length];
        Arrays.fill(mask, 1);
        return RowFactory.create(row.getAs("row_index"), id, promptIds, response, mask);
    }

    /** One past the last end token: what a template puts behind it is never generated. */
    private static int lastEnd(int[] ids, int from, int[] stopIds) {
        for (int t = ids.length - 1; t >= from; t--) {
            for (int stop : stopIds) {
                if (ids[t] == stop) {
                    return t + 1;
                }
            }
        }
        return ids.length;
    }
}
