package io.bellows.run;

import io.bellows.trajectory.Table;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.SparkSession;

/** The manifests of a run: which tables exist, and whether they fit together. */
final class Commits {

    private final RunFiles files;
    private final Map<Table, CommittedTable> tables = new EnumMap<>(Table.class);

    Commits(SparkSession spark, RunFiles files) {
        this.files = files;
        for (Table table : Table.values()) {
            tables.put(table, new CommittedTable(spark, files, table));
        }
    }

    CommittedTable table(Table table) {
        return tables.get(table);
    }

    boolean isCommitted(int iteration, Table table) {
        return files.exists(tables.get(table).manifestPath(iteration, 0));
    }

    Optional<Manifest> manifest(int iteration, int round, Table table) {
        Path path = tables.get(table).manifestPath(iteration, round);
        return files.text(path).map(text -> Manifest.parse(text, path.toString()));
    }

    /** The parts of a table of an iteration, by round. */
    List<Manifest> manifests(int iteration, Table table) {
        List<Manifest> parts = new ArrayList<>();
        Optional<Manifest> part = manifest(iteration, 0, table);
        while (part.isPresent()) {
            parts.add(part.get());
            part = manifest(iteration, parts.size(), table);
        }
        return parts;
    }

    /** Iterations that have committed a table, ascending. */
    List<Integer> iterations(Table table) {
        return iterations().stream()
                .filter(iteration -> isCommitted(iteration, table))
                .toList();
    }

    /**
     * Checks each manifest, by table and iteration: its own content, the files it names, and what it was made from.
     *
     * @param check runs a check, and may catch what it throws
     */
    void verifyAll(Consumer<Runnable> check) {
        for (Table table : Table.values()) {
            iterations(table).forEach(iteration -> check.accept(() -> {
                for (Manifest manifest : manifests(iteration, table)) {
                    String path = tables.get(table)
                            .manifestPath(iteration, manifest.round())
                            .toString();
                    check.accept(() -> manifest.verify(path));
                    check.accept(() -> tables.get(table).verify(manifest));
                    check.accept(() -> checkLineage(manifest, current(manifest.reads())));
                }
            }));
        }
    }

    /** Makes sure that a table was made from {@code now}, as far as it names the same tables. */
    void checkLineage(Manifest manifest, List<ManifestRef> reads) {
        for (ManifestRef now : reads) {
            for (ManifestRef then : manifest.reads()) {
                boolean same = then.iteration() == now.iteration()
                        && then.round() == now.round()
                        && then.table() == now.table();
                if (same && !then.attempt().equals(now.attempt())) {
                    throw new InvalidRunException("Cannot use "
                            + tables.get(manifest.table()).manifestPath(manifest.iteration(), manifest.round())
                            + ": it was made from "
                            + now.table().tableName() + " " + then.attempt() + ", committed is " + now.attempt()
                            + "; delete it to compute that stage and all after it again");
                }
            }
        }
    }

    /** Deletes what was written and not committed, from an iteration on. */
    void removeOrphansFrom(int first) {
        for (int iteration : iterations()) {
            if (iteration >= first) {
                tables.forEach((table, committed) -> removeOrphans(iteration, table, committed));
            }
        }
    }

    private void removeOrphans(int iteration, Table table, CommittedTable committed) {
        int parts = manifests(iteration, table).size();
        for (int round = 0; round <= parts; round++) { // the round after the last may have been begun
            committed.removeOrphans(iteration, round, manifest(iteration, round, table));
        }
    }

    private List<ManifestRef> current(List<ManifestRef> refs) {
        List<ManifestRef> current = new ArrayList<>();
        for (ManifestRef ref : refs) {
            current.add(manifest(ref.iteration(), ref.round(), ref.table())
                    .map(Manifest::ref)
                    .orElseGet(() -> new ManifestRef(ref.iteration(), ref.round(), ref.table(), "nothing")));
        }
        return current;
    }

    private List<Integer> iterations() {
        return files.list(files.path("iterations")).stream()
                .map(status -> status.getPath().getName())
                .filter(name -> name.matches("\\d{6,9}"))
                .map(Integer::valueOf)
                .sorted()
                .toList();
    }
}
