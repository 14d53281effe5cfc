package io.bellows.training;

import io.bellows.model.PackedSequences;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;

/** Passes of a model over rows, micro-batch by micro-batch. */
public final class Passes {

    private Passes() {}

    /**
     * One number that a model says about each row, prompt and response together.
     *
     * @param rows any rows
     * @param batching how they are cut
     * @param pass takes the token ids of some rows to a number for each
     * @return the numbers, in the order of {@code rows}
     */
    public static float[] whole(
            List<TrainingSequence> rows, MicroBatching batching, Function<List<int[]>, float[]> pass) {
        float[] numbers = new float[rows.size()];
        for (int[] members : batching.plan(rows)) {
            float[] given = pass.apply(Arrays.stream(members)
                    .mapToObj(row -> Passes.ids(rows.get(row)))
                    .toList());
            for (int i = 0; i < members.length; i++) {
                numbers[members[i]] = given[i];
            }
        }
        return numbers;
    }

    private static int[] ids(TrainingSequence row) {
        return IntStream.concat(IntStream.of(row.promptIds()), IntStream.of(row.responseIds()))
                .toArray();
    }

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
        return together(rows, batching, 1, packed -> List.of(pass.apply(packed)))
                .get(0);
    }

    /**
     * Several things that a model says in one pass about the response tokens of each row.
     *
     * @param rows any rows
     * @param batching how they are cut
     * @param count how many things
     * @param pass takes packed sequences to as many arrays, each with a number for each of their response tokens
     * @return one list for each thing: R numbers for each row, in the order of {@code rows}
     */
    public static List<List<float[]>> together(
            List<TrainingSequence> rows,
            MicroBatching batching,
            int count,
            Function<PackedSequences, List<float[]>> pass) {
        IdentityHashMap<TrainingSequence, List<float[]>> results = new IdentityHashMap<>();
        // A prompt without a response may be longer than the model takes.
        List<TrainingSequence> answered =
                rows.stream().filter(row -> row.responseIds().length > 0).toList();
        for (int[] members : batching.plan(answered)) {
            MicroBatch micro = MicroBatch.scored(
                    Arrays.stream(members).mapToObj(answered::get).toList());
            List<float[]> all = pass.apply(micro.packed());
            for (int i = 0; i < micro.rows().size(); i++) {
                int start = micro.sequences().start(i);
                int end = micro.sequences().end(i);
                results.put(
                        micro.rows().get(i),
                        all.stream()
                                .map(numbers -> Arrays.copyOfRange(numbers, start, end))
                                .toList());
            }
        }
        // An empty response has no tokens to say anything about.
        List<float[]> nothing = Collections.nCopies(count, new float[0]);
        return IntStream.range(0, count)
                .mapToObj(thing -> rows.stream()
                        .map(row -> results.getOrDefault(row, nothing).get(thing))
                        .toList())
                .toList();
    }
}
