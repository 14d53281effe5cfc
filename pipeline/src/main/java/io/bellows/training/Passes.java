package io.bellows.training;

import io.bellows.model.PackedSequences;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.function.Function;

/** Passes of a model over rows, micro-batch by micro-batch. */
public final class Passes {

    private Passes() {}

    /**
     * What a model says about the response tokens of each row.
     *
     * @param rows any rows
     * @param batching how they are cut
     * @param pass takes packed sequences to a number for each of their response tokens
     * @return R numbers for each row, in the order of {@code rows}
     */
    public static List<float[]> over(
            List<TrainingSequence> rows, MicroBatching batching, Function<PackedSequences, float[]> pass) {
        IdentityHashMap<TrainingSequence, float[]> results = new IdentityHashMap<>();
        int[] lengths = rows.stream().mapToInt(TrainingSequence::length).toArray();
        for (int[] members : batching.plan(lengths)) {
            MicroBatch micro =
                    MicroBatch.scored(Arrays.stream(members).mapToObj(rows::get).toList());
            if (micro.rows().isEmpty()) {
                continue;
            }
            float[] all = pass.apply(micro.packed());
            for (int i = 0; i < micro.rows().size(); i++) {
                int start = micro.sequences().start(i);
                results.put(
                        micro.rows().get(i),
                        Arrays.copyOfRange(all, start, micro.sequences().end(i)));
            }
        }
        // An empty response has no tokens to say anything about.
        return rows.stream().map(row -> results.getOrDefault(row, new float[0])).toList();
    }
}
