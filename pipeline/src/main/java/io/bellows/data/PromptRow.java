package io.bellows.data;

import io.bellows.text.Message;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;

/**
 * A row that was read: its place and a prompt, or its place and a problem.
 *
 * <p>These travel between executors under whatever serializer the cluster has set; Kryo cannot read records, so neither
 * this class nor its parts are any.
 */
final class PromptRow implements Serializable {

    private final Place place;
    private final String problem;
    private final String flag;
    private final String promptHash;
    private final Object[] columns;
    private final int promptLength;

    private PromptRow(Place place, String problem, String flag, String promptHash, Object[] columns, int promptLength) {
        this.place = place;
        this.problem = problem;
        this.flag = flag;
        this.promptHash = promptHash;
        this.columns = columns;
        this.promptLength = promptLength;
    }

    static PromptRow bad(Place place, String problem) {
        return new PromptRow(place, problem, null, null, new Object[0], 0);
    }

    static PromptRow good(Place place, String promptId, PromptReader.Prompt prompt, int promptLength) {
        Object[] columns = {
            promptId,
            prompt.dataSource(),
            rows(prompt.prompt()),
            rows(prompt.completion()),
            prompt.groundTruth(),
            prompt.extra().toString(),
            prompt.tools() == null ? null : prompt.tools().toString()
        };
        return new PromptRow(place, null, prompt.flag(), hash(prompt), columns, promptLength);
    }

    /** Where it stands. */
    Place place() {
        return place;
    }

    /** Why it cannot be read; null when it can. */
    String problem() {
        return problem;
    }

    /** A column that should hold JSON and does not; null when all do. */
    String flag() {
        return flag;
    }

    /** SHA-256 of the prompt: its messages and tools. */
    String promptHash() {
        return promptHash;
    }

    /** Text view of the reference answer, or null. */
    String groundTruth() {
        return (String) columns[4];
    }

    /** Tokens of the prompt. */
    int promptLength() {
        return promptLength;
    }

    /** A row of {@link PromptSchema#PROMPT}. */
    Row numbered(long index) {
        return RowFactory.create(
                columns[0],
                index,
                columns[1],
                columns[2],
                columns[3],
                columns[4],
                columns[5],
                columns[6],
                promptLength);
    }

    private static Object rows(List<Message> messages) {
        return messages == null
                ? null
                : messages.stream().map(PromptSchema::row).toArray(Row[]::new);
    }

    private static String hash(PromptReader.Prompt prompt) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            for (Message message : prompt.prompt()) {
                digest.update(message.toJson().toString().getBytes(StandardCharsets.UTF_8));
            }
            if (prompt.tools() != null) {
                digest.update(prompt.tools().toString().getBytes(StandardCharsets.UTF_8));
            }
            return HexFormat.of().formatHex(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java platform has SHA-256", e);
        }
    }

    /** Where a row stands: its file's place among the files and its number in the file. Their order is the dataset's. */
    static final class Place implements Comparable<Place>, Serializable {

        private static final Comparator<Place> ORDER =
                Comparator.comparingInt(Place::file).thenComparingLong(Place::row);

        private final int file;
        private final long row;

        Place(int file, long row) {
            this.file = file;
            this.row = row;
        }

        int file() {
            return file;
        }

        long row() {
            return row;
        }

        @Override
        public int compareTo(Place other) {
            return ORDER.compare(this, other);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Place that && compareTo(that) == 0;
        }

        @Override
        public int hashCode() {
            return 31 * file + Long.hashCode(row);
        }
    }
}
