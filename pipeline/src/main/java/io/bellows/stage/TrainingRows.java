package io.bellows.stage;

import io.bellows.training.TrainingSequence;
import java.util.List;
import org.apache.spark.sql.Row;

/** Reads rows of the update, and arrays of any table. */
final class TrainingRows {

    private TrainingRows() {}

    /**
     * Reads {@code trajectory_id, prompt_ids, response_ids, response_mask} and, where the row has them, {@code
     * old_log_probs, ref_log_probs, advantages, values, returns, rollout_is_weights}.
     */
    static TrainingSequence read(Row row) {
        int[] mask = ints(row, hasValue(row, "corrected_mask") ? "corrected_mask" : "response_mask");
        boolean[] sampled = new boolean[mask.length];
        for (int i = 0; i < mask.length; i++) {
            sampled[i] = mask[i] == 1;
        }
        return new TrainingSequence(
                row.getAs("trajectory_id"),
                ints(row, "prompt_ids"),
                ints(row, "response_ids"),
                sampled,
                floatsOrNull(row, "old_log_probs"),
                floatsOrNull(row, "ref_log_probs"),
                floatsOrNull(row, "advantages"),
                floatsOrNull(row, "values"),
                floatsOrNull(row, "returns"),
                floatsOrNull(row, "rollout_is_weights"),
                null);
    }

    static int[] ints(Row row, String column) {
        List<Integer> values = row.getList(row.fieldIndex(column));
        int[] ints = new int[values.size()];
        for (int i = 0; i < ints.length; i++) {
            ints[i] = values.get(i);
        }
        return ints;
    }

    private static float[] floatsOrNull(Row row, String column) {
        return hasValue(row, column) ? floats(row, column) : null;
    }

    private static boolean hasValue(Row row, String column) {
        return List.of(row.schema().fieldNames()).contains(column) && !row.isNullAt(row.fieldIndex(column));
    }

    static float[] floats(Row row, String column) {
        List<Float> values = row.getList(row.fieldIndex(column));
        float[] floats = new float[values.size()];
        for (int i = 0; i < floats.length; i++) {
            floats[i] = values.get(i);
        }
        return floats;
    }
}
