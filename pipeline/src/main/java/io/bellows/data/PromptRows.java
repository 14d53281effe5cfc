package io.bellows.data;

import static org.apache.spark.sql.functions.col;

import io.bellows.text.Message;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.TaskCompletionListener;

/** Raw rows to prompts, each with its place, or with the problem that it has. */
final class PromptRows implements MapPartitionsFunction<Row, Row> {

    private static final StructType SCHEMA = new StructType()
            .add("file", DataTypes.IntegerType, false)
            .add("row", DataTypes.LongType, false)
            .add("problem", DataTypes.StringType)
            .add("flag", DataTypes.StringType)
            .add("prompt_id", DataTypes.StringType)
            .add("data_source", DataTypes.StringType)
            .add("prompt", DataTypes.createArrayType(PromptSchema.MESSAGE, false))
            .add("completion", DataTypes.createArrayType(PromptSchema.MESSAGE, false))
            .add("ground_truth", DataTypes.StringType)
            .add("extra", DataTypes.StringType)
            .add("prompt_length", DataTypes.IntegerType);

    private final List<SourceFile> files;
    private final List<Layout> layouts;
    private final DatasetOptions options;
    private final PromptLength.Source length;

    PromptRows(List<SourceFile> files, List<Layout> layouts, DatasetOptions options, PromptLength.Source length) {
        this.files = List.copyOf(files);
        this.layouts = List.copyOf(layouts);
        this.options = options;
        this.length = length;
    }

    /** A row for every raw row. */
    Dataset<Row> read(Dataset<Row> raw) {
        return raw.mapPartitions(this, Encoders.row(SCHEMA));
    }

    /** The rows that can be used. */
    static Dataset<Row> kept(Dataset<Row> read, DatasetOptions options) {
        return read.where(col("problem").isNull().and(col("prompt_length").leq(options.maxPromptLength())));
    }

    /** A row of {@link PromptSchema#PROMPT}. */
    static Row prompt(Row read, long index) {
        return RowFactory.create(
                read.getString(4),
                index,
                read.getString(5),
                read.get(6),
                read.get(7),
                read.getString(8),
                read.getString(9),
                read.getInt(10));
    }

    @Override
    public Iterator<Row> call(Iterator<Row> raw) {
        PromptLength measure = length.open();
        TaskContext.get().addTaskCompletionListener((TaskCompletionListener) context -> measure.close());
        PromptReader[] readers = new PromptReader[files.size()];
        for (SourceFile file : files) {
            readers[file.index()] = new PromptReader(file, layouts.get(file.index()), options);
        }
        return new Iterator<>() {
            @Override
            public boolean hasNext() {
                return raw.hasNext();
            }

            @Override
            public Row next() {
                Row row = raw.next();
                return read(row, readers[row.getInt(0)], measure);
            }
        };
    }

    private Row read(Row raw, PromptReader reader, PromptLength measure) {
        int file = raw.getInt(0);
        long row = raw.getLong(1);
        if (raw.getString(3) != null) {
            return bad(file, row, raw.getString(3));
        }
        try {
            PromptReader.Prompt prompt = reader.read(raw.getString(2));
            return RowFactory.create(
                    file,
                    row,
                    null,
                    prompt.flag(),
                    files.get(file).digest() + ":" + row,
                    prompt.dataSource(),
                    rows(prompt.prompt()),
                    rows(prompt.completion()),
                    prompt.groundTruth(),
                    prompt.extra().toString(),
                    tokens(measure, prompt));
        } catch (IllegalArgumentException e) {
            return bad(file, row, e.getMessage());
        }
    }

    /** What the template makes of a conversation is known only by rendering it; a refusal concerns this row alone. */
    private static int tokens(PromptLength measure, PromptReader.Prompt prompt) {
        try {
            return measure.tokens(prompt.prompt(), prompt.tools());
        } catch (RuntimeException e) {
            throw new IllegalArgumentException("the prompt cannot be rendered: " + e.getMessage(), e);
        }
    }

    private static Row bad(int file, long row, String problem) {
        return RowFactory.create(file, row, problem, null, null, null, null, null, null, null, null);
    }

    private static Object rows(List<Message> messages) {
        return messages == null
                ? null
                : messages.stream().map(PromptSchema::row).toArray(Row[]::new);
    }
}
