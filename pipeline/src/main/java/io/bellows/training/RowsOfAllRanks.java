package io.bellows.training;

import io.bellows.training.collective.Collective;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/**
 * A mini-batch as all ranks together have it, for what compares its rows. Those of other ranks have no tokens, only what is compared.
 *
 * @param rows by rank
 * @param logProbs what the policy says of each row's response tokens
 * @param first where this rank's rows begin
 */
record RowsOfAllRanks(List<TrainingSequence> rows, List<float[]> logProbs, int first) {

    static RowsOfAllRanks gather(Collective ranks, List<TrainingSequence> own, List<float[]> logProbs) {
        if (ranks.size() == 1) {
            return new RowsOfAllRanks(own, logProbs, 0);
        }
        try {
            List<byte[]> told = ranks.gather(encode(own, logProbs));
            RowsOfAllRanks all = new RowsOfAllRanks(new ArrayList<>(), new ArrayList<>(), 0);
            int first = 0;
            for (int rank = 0; rank < told.size(); rank++) {
                if (rank == ranks.rank()) {
                    first = all.rows.size();
                    all.rows.addAll(own);
                    all.logProbs.addAll(logProbs);
                } else {
                    decode(told.get(rank), all);
                }
            }
            return new RowsOfAllRanks(all.rows, all.logProbs, first);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot read the rows of another rank: " + e.getMessage(), e);
        }
    }

    private static byte[] encode(List<TrainingSequence> rows, List<float[]> logProbs) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeInt(rows.size());
            for (int i = 0; i < rows.size(); i++) {
                TrainingSequence row = rows.get(i);
                out.writeUTF(row.id());
                out.writeInt(row.mask().length);
                for (boolean sampled : row.mask()) {
                    out.writeBoolean(sampled);
                }
                write(out, logProbs.get(i));
                write(out, row.oldLogProbs());
                write(out, row.advantages());
                write(out, row.importanceWeights());
            }
        }
        return bytes.toByteArray();
    }

    private static void decode(byte[] bytes, RowsOfAllRanks all) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
        for (int rows = in.readInt(); rows > 0; rows--) {
            String id = in.readUTF();
            boolean[] mask = new boolean[in.readInt()];
            for (int t = 0; t < mask.length; t++) {
                mask[t] = in.readBoolean();
            }
            all.logProbs.add(read(in, mask.length));
            float[] old = read(in, mask.length);
            float[] advantages = read(in, mask.length);
            float[] weights = read(in, mask.length);
            int[] ids = new int[mask.length];
            all.rows.add(
                    new TrainingSequence(id, new int[1], ids, mask, old, null, advantages, null, null, weights, null));
        }
    }

    private static void write(DataOutputStream out, float[] values) throws IOException {
        out.writeBoolean(values != null);
        if (values != null) {
            for (float value : values) {
                out.writeFloat(value);
            }
        }
    }

    private static float[] read(DataInputStream in, int length) throws IOException {
        if (!in.readBoolean()) {
            return null;
        }
        float[] values = new float[length];
        for (int t = 0; t < length; t++) {
            values[t] = in.readFloat();
        }
        return values;
    }
}
