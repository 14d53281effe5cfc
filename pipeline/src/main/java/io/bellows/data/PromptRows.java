package io.bellows.data;

import java.util.Iterator;
import java.util.List;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.Row;
import org.apache.spark.util.TaskCompletionListener;

/** Raw rows to prompts, each with its place, or with the problem that it has. */
final class PromptRows implements FlatMapFunction<Iterator<Row>, PromptRow> {

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

    @Override
    public Iterator<PromptRow> call(Iterator<Row> raw) {
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
            public PromptRow next() {
                Row row = raw.next();
                return read(row, readers[row.getInt(0)], measure);
            }
        };
    }

    private PromptRow read(Row raw, PromptReader reader, PromptLength measure) {
        PromptRow.Place place = new PromptRow.Place(raw.getInt(0), raw.getLong(1));
        if (raw.getString(3) != null) {
            return PromptRow.bad(place, raw.getString(3));
        }
        try {
            PromptReader.Prompt prompt = reader.read(raw.getString(2));
            String id = files.get(place.file()).digest() + ":" + place.row();
            return PromptRow.good(place, id, prompt, tokens(measure, prompt));
        } catch (IllegalArgumentException e) {
            return PromptRow.bad(place, e.getMessage());
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
}
