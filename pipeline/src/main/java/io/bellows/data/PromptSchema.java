package io.bellows.data;

import com.fasterxml.jackson.databind.JsonNode;
import io.bellows.text.Message;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** The table of prompts that every dataset becomes. */
public final class PromptSchema {

    /** A message: role, content, tool_calls (JSON array as text), tool_call_id, name; all but the role nullable. */
    public static final StructType MESSAGE = new StructType()
            .add("role", DataTypes.StringType, false)
            .add("content", DataTypes.StringType)
            .add("tool_calls", DataTypes.StringType)
            .add("tool_call_id", DataTypes.StringType)
            .add("name", DataTypes.StringType);

    /**
     * A prompt: prompt_id (digest of the file, colon, row of the file from 0), row_index (position in the dataset),
     * data_source, prompt and completion (arrays of {@link #MESSAGE}; completion nullable), ground_truth (text, nullable),
     * extra (JSON object of all other columns, with ground_truth in its own shape), tools (JSON array of the function schemas
     * that the chat template shows, nullable), prompt_length (tokens).
     */
    public static final StructType PROMPT = new StructType()
            .add("prompt_id", DataTypes.StringType, false)
            .add("row_index", DataTypes.LongType, false)
            .add("data_source", DataTypes.StringType, false)
            .add("prompt", DataTypes.createArrayType(MESSAGE, false), false)
            .add("completion", DataTypes.createArrayType(MESSAGE, false))
            .add("ground_truth", DataTypes.StringType)
            .add("extra", DataTypes.StringType, false)
            .add("tools", DataTypes.StringType)
            .add("prompt_length", DataTypes.IntegerType, false);

    private PromptSchema() {}

    /** Messages of a column of {@link #MESSAGE} arrays; null when the column is null. */
    public static List<Message> messages(Row row, String column) {
        List<Row> rows = row.getList(row.fieldIndex(column));
        return rows == null ? null : rows.stream().map(PromptSchema::message).toList();
    }

    /** The function schemas of a row of {@link #PROMPT}, or null. */
    public static JsonNode tools(Row row) {
        String tools = row.getAs("tools");
        return tools == null ? null : RowJson.parse(tools);
    }

    /** A message as a row of {@link #MESSAGE}. */
    public static Row row(Message message) {
        return RowFactory.create(
                message.role(), message.content(), message.toolCalls(), message.toolCallId(), message.name());
    }

    private static Message message(Row row) {
        return new Message(row.getString(0), row.getString(1), row.getString(2), row.getString(3), row.getString(4));
    }
}
