package io.bellows.run;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.config.BellowsConfig;
import io.bellows.trajectory.Table;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Supplier;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * The directory of a run. A table of an iteration exists when its manifest does, which is written last, once, atomically;
 * what no manifest names is never read. So a driver may stop at any moment: the next one goes on with the first stage
 * that has no manifest.
 *
 * <pre>{@code
 * try (RunDirectory run = RunDirectory.start(spark, config)) {
 *     int iteration = run.latestCommittedIteration().orElse(0) + 1;
 *     Dataset<Row> trajectories = run.commitTable(iteration, Table.TRAJECTORIES, () -> rollout(…), extras);
 *     …
 *     CheckpointAttempt attempt = run.beginCheckpoint(iteration);
 *     update(attempt);
 *     Checkpoint checkpoint = run.publish(attempt);
 *     run.commitTable(iteration, Table.METRICS, () -> metrics, extras.withState(IterationState.of(checkpoint, …)));
 * }
 * }</pre>
 *
 * <p>Not thread-safe: one driver thread writes.
 */
public final class RunDirectory implements AutoCloseable {

    private static final Duration HEARTBEAT = Duration.ofSeconds(10);

    private final SparkSession spark;
    private final RunFiles files;
    private final Clock clock;
    private final RunDescription description;
    private final BellowsConfig config;
    private final Retention retention;
    private final Commits commits;
    private final CheckpointStore checkpoints;
    private final Lease lease;
    private final Runnable onClose;

    private RunDirectory(
            SparkSession spark,
            RunFiles files,
            Clock clock,
            RunDescription description,
            BellowsConfig config,
            Retention retention,
            Lease lease,
            Runnable onClose) {
        this.spark = spark;
        this.files = files;
        this.clock = clock;
        this.description = description;
        this.config = config;
        this.retention = retention;
        this.lease = lease;
        this.onClose = onClose;
        this.commits = new Commits(spark, files);
        this.checkpoints = new CheckpointStore(spark, files, description.runId());
    }

    /**
     * Creates the run directory {@code trainer.default_local_dir}, or continues the run in it: takes its lease, compares the
     * configuration and removes what a driver that stopped has left uncommitted.
     *
     * @throws InvalidRunException when another driver is at work, {@code trainer.resume_mode} is {@code disable} and the run
     *     exists, or a key that must not change has
     */
    public static RunDirectory start(SparkSession spark, BellowsConfig config) {
        return start(spark, config, Retention.byIteration(config.trainer()));
    }

    /** As {@link #start(SparkSession, BellowsConfig)}, with checkpoints that stay by {@code retention}. */
    static RunDirectory start(SparkSession spark, BellowsConfig config, Retention retention) {
        ScheduledExecutorService scheduler = Executors.newSingleThreadScheduledExecutor(task -> {
            Thread thread = new Thread(task, "bellows-lease");
            thread.setDaemon(true);
            return thread;
        });
        try {
            return start(spark, config, retention, Clock.systemUTC(), scheduler, HEARTBEAT, scheduler::shutdownNow);
        } catch (RuntimeException e) {
            scheduler.shutdownNow();
            throw e;
        }
    }

    static RunDirectory start(
            SparkSession spark,
            BellowsConfig config,
            Retention retention,
            Clock clock,
            ScheduledExecutorService scheduler,
            Duration heartbeat,
            Runnable onClose) {
        RunFiles files = new RunFiles(
                config.trainer().runDirectory(), spark.sparkContext().hadoopConfiguration());
        files.makeFolder(files.root());
        Lease lease = Lease.acquire(files, clock, scheduler, heartbeat);
        try {
            RunDescription description = RunDescription.createOrCompare(files, config, clock, spark.version());
            RunDirectory run = new RunDirectory(spark, files, clock, description, config, retention, lease, onClose);
            run.removeOrphans();
            return run;
        } catch (RuntimeException e) {
            lease.close();
            throw e;
        }
    }

    /**
     * Creates a directory in which iterations of another one are computed again. It has the same run id, so that the rows of both
     * join by their keys.
     *
     * @param config with the place of the new directory
     * @throws InvalidRunException when there is something at that place, or it lies in the other directory
     */
    static RunDirectory startReplay(SparkSession spark, RunDirectory source, BellowsConfig config) {
        RunFiles files = new RunFiles(
                config.trainer().runDirectory(), spark.sparkContext().hadoopConfiguration());
        if (!files.list(files.root()).isEmpty() || (files.root() + "/").startsWith(source.uri() + "/")) {
            throw new InvalidRunException("Cannot replay " + source.uri() + " into " + files.root()
                    + ": that is not an empty folder outside of the run; choose another with -o DIR");
        }
        source.description.with(config, Clock.systemUTC()).create(files);
        return start(spark, config);
    }

    /**
     * Opens a run to read it; nothing is written and no lease taken.
     *
     * @throws InvalidRunException when there is no run at {@code path}
     */
    public static RunDirectory open(SparkSession spark, String path) {
        RunFiles files = new RunFiles(path, spark.sparkContext().hadoopConfiguration());
        RunDescription description = RunDescription.read(files)
                .orElseThrow(() -> new InvalidRunException("Cannot open the run " + files.root()
                        + ": there is no run.json in it; give the directory that 'bellows train' printed"));
        BellowsConfig config = BellowsConfig.fromResolved(description.config());
        return new RunDirectory(
                spark,
                files,
                Clock.systemUTC(),
                description,
                config,
                Retention.byIteration(config.trainer()),
                null,
                () -> {});
    }

    /**
     * Reads what a run was started with, without Spark.
     *
     * @param path its directory
     * @return its configuration, with {@code path} as its place; empty when there is no run
     */
    public static Optional<BellowsConfig> storedConfig(String path) {
        RunFiles files = new RunFiles(path, new org.apache.hadoop.conf.Configuration());
        return RunDescription.read(files).map(description -> {
            ObjectNode resolved = description.config().deepCopy();
            resolved.withObject("trainer").put("default_local_dir", path);
            return BellowsConfig.fromResolved(resolved);
        });
    }

    /** Identifies the run in every table. */
    public String runId() {
        return description.runId();
    }

    /** The directory, qualified by its file system. */
    public String uri() {
        return files.root().toString();
    }

    /** What the run was first started with. */
    public RunDescription description() {
        return description;
    }

    /** The configuration of this start; of the first one, when opened to read. */
    public BellowsConfig config() {
        return config;
    }

    /** The newest iteration that is committed, that is whose update is. */
    public OptionalInt latestCommittedIteration() {
        return commits.iterations(Table.METRICS).stream()
                .mapToInt(Integer::intValue)
                .max();
    }

    /** What the newest committed iteration left behind; empty before the first. */
    public Optional<IterationState> latestState() {
        OptionalInt latest = latestCommittedIteration();
        return latest.isEmpty()
                ? Optional.empty()
                : manifest(latest.getAsInt(), Table.METRICS).map(Manifest::state);
    }

    /** Whether a table of an iteration is committed. */
    public boolean isCommitted(int iteration, Table table) {
        return commits.isCommitted(iteration, table);
    }

    /** The commit of a table of an iteration, if there is one; of its first round, where there are several. */
    public Optional<Manifest> manifest(int iteration, Table table) {
        return commits.manifest(iteration, 0, table);
    }

    /** The commits of a table of an iteration, one per round of its rollout; empty when there is none. */
    public List<Manifest> manifests(int iteration, Table table) {
        return commits.manifests(iteration, table);
    }

    /**
     * Commits a table unless it is committed, and reads it back. The rows come from the files the manifest names, so nothing
     * done with the result runs {@code body} again. A table found committed is compared with its checksums, and with the
     * lineage in {@code extras}.
     *
     * @param body makes the rows, with the columns of the table's schema in any order; called only when needed
     * @return the rows; every column nullable, as Spark reads files
     * @throws InvalidRunException when the lease is lost, a file is not what the manifest says, or the table was made from
     *     other tables than {@code extras} says
     * @throws IllegalStateException when the number of rows is not the expected one
     */
    public Dataset<Row> commitTable(int iteration, Table table, Supplier<Dataset<Row>> body, ManifestExtras extras) {
        return commitTable(iteration, 0, table, body, extras);
    }

    /**
     * As {@link #commitTable(int, Table, Supplier, ManifestExtras)}, for one round of several: each is a part of the table,
     * committed on its own, and only the part comes back.
     *
     * @param round counted from 0, without gaps
     */
    public Dataset<Row> commitTable(
            int iteration, int round, Table table, Supplier<Dataset<Row>> body, ManifestExtras extras) {
        heldLease().check();
        Optional<Manifest> existing = commits.manifest(iteration, round, table);
        if (existing.isPresent()) {
            commits.table(table).verify(existing.get());
            commits.checkLineage(existing.get(), extras.reads());
            return commits.table(table).read(List.of(existing.get()));
        }
        checkState(iteration, table, extras.state());
        Manifest manifest = write(iteration, round, table, body, extras);
        publish(manifest);
        if (table == Table.METRICS) {
            retireCheckpoints(iteration);
        }
        return commits.table(table).read(List.of(manifest));
    }

    /** Takes a committed table of another directory over, byte for byte. */
    void copyTable(RunDirectory source, int iteration, Table table) {
        heldLease().check();
        for (Manifest part : source.manifests(iteration, table)) {
            Path from = source.commits.table(table).folder(iteration, part.round());
            Path to = commits.table(table).folder(iteration, part.round());
            part.files().forEach(file -> files.copy(new Path(from, file.path()), new Path(to, file.path())));
            publish(part);
        }
    }

    /** The rows of a part of a table. */
    Dataset<Row> rows(Manifest part) {
        return commits.table(part.table()).read(List.of(part));
    }

    /**
     * The rows of a committed table of an iteration.
     *
     * @throws InvalidRunException when it is not committed or a file is not there in its size
     */
    public Dataset<Row> committed(int iteration, Table table) {
        List<Manifest> parts = manifests(iteration, table);
        if (parts.isEmpty()) {
            throw new InvalidRunException("Cannot read " + table.tableName() + " of iteration " + iteration + " of "
                    + uri() + ": it is not committed; run the stage that writes it");
        }
        return commits.table(table).read(parts);
    }

    /** The rows of a table over all iterations that have committed it; empty, with its columns, when none has. */
    public Dataset<Row> committed(Table table) {
        List<Manifest> manifests = commits.iterations(table).stream()
                .flatMap(iteration -> manifests(iteration, table).stream())
                .toList();
        return commits.table(table).read(manifests);
    }

    /** Makes a temporary view of each table over all committed iterations, named as the table. */
    public void createViews() {
        for (Table table : Table.values()) {
            committed(table).createOrReplaceTempView(table.tableName());
        }
    }

    /** A new folder for the checkpoint of an iteration; the update task writes into it. */
    public CheckpointAttempt beginCheckpoint(int iteration) {
        heldLease().check();
        return checkpoints.begin(iteration);
    }

    /**
     * Gives a written checkpoint its final name and its manifest. It counts once the update's manifest names it.
     *
     * @throws InvalidRunException when the lease is lost or the iteration is committed already
     */
    public Checkpoint publish(CheckpointAttempt attempt) {
        heldLease().check();
        if (isCommitted(attempt.iteration(), Table.METRICS)) {
            throw new InvalidRunException("Cannot publish another checkpoint of iteration " + attempt.iteration()
                    + " of " + uri() + ": the iteration is committed");
        }
        return checkpoints.publish(attempt);
    }

    /**
     * The checkpoint of a committed iteration; empty when retention has deleted it.
     *
     * @throws InvalidRunException when it is not the one the iteration committed, or a file is not there in its size
     */
    public Optional<Checkpoint> checkpoint(int iteration) {
        IterationState state = manifest(iteration, Table.METRICS)
                .map(Manifest::state)
                .orElseThrow(() -> new InvalidRunException("Cannot use the checkpoint of iteration " + iteration
                        + " of " + uri() + ": it is not committed"));
        Optional<Checkpoint> checkpoint = checkpoints.find(iteration);
        checkpoint.ifPresent(found -> checkpoints.check(found, state));
        return checkpoint;
    }

    /**
     * The newest committed checkpoint, from which a run goes on; empty when it starts from {@code model.path}. Its files
     * are compared with their checksums.
     *
     * @throws InvalidRunException when the newest iteration's checkpoint is missing or damaged
     */
    public Optional<Checkpoint> latestCheckpoint() {
        Optional<Checkpoint> newest = newestCheckpoint();
        newest.ifPresent(checkpoints::verify);
        return newest;
    }

    /** As {@link #checkpoint}, with its files compared with their checksums. */
    Optional<Checkpoint> verifiedCheckpoint(int iteration) {
        Optional<Checkpoint> checkpoint = checkpoint(iteration);
        checkpoint.ifPresent(checkpoints::verify);
        return checkpoint;
    }

    private Optional<Checkpoint> newestCheckpoint() {
        OptionalInt latest = latestCommittedIteration();
        if (latest.isEmpty() || latestState().map(IterationState::checkpoint).isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(checkpoint(latest.getAsInt())
                .orElseThrow(
                        () -> new InvalidRunException("Cannot continue the run " + uri() + ": its newest checkpoint "
                                + files.path(Checkpoint.relativePath(latest.getAsInt())) + " is missing; restore it")));
    }

    /** Compares every manifest and every committed file with its checksum, and every table with its lineage; the problems found. */
    public List<String> verify() {
        List<String> problems = new ArrayList<>();
        commits.verifyAll(check -> note(problems, check));
        for (int iteration : commits.iterations(Table.METRICS)) {
            note(problems, () -> checkpoint(iteration).ifPresent(checkpoints::verify));
        }
        note(problems, this::newestCheckpoint); // whether it is there; its bytes were compared above
        return problems;
    }

    /** Ends the heartbeat and gives the lease back. */
    @Override
    public void close() {
        onClose.run();
        if (lease != null) {
            lease.close();
        }
    }

    private Manifest write(int iteration, int round, Table table, Supplier<Dataset<Row>> body, ManifestExtras extras) {
        String before = spark.sparkContext().getLocalProperty("spark.job.description");
        spark.sparkContext().setJobDescription("bellows " + runId() + " iteration " + iteration + " " + table.folder());
        try {
            CommittedTable.Written written = commits.table(table).write(iteration, round, body);
            if (extras.expectedRows() != null && extras.expectedRows() != written.rows()) {
                throw new IllegalStateException("Cannot commit " + table.tableName() + " of iteration " + iteration
                        + ": " + written.rows() + " rows were written, expected " + extras.expectedRows());
            }
            if (extras.leastRows() != null && extras.leastRows() > written.rows()) {
                throw new IllegalStateException("Cannot commit " + table.tableName() + " of iteration " + iteration
                        + ": " + written.rows() + " rows were written, expected at least " + extras.leastRows());
            }
            return new Manifest(
                            Manifest.FORMAT,
                            runId(),
                            iteration,
                            round,
                            table,
                            written.attempt(),
                            written.files(),
                            written.rows(),
                            commits.table(table).schemaSha256(),
                            config.hash(),
                            extras.weightsVersion(),
                            extras.reads(),
                            extras.state(),
                            heldLease().driver().id(),
                            clock.instant().toString(),
                            null)
                    .sealed();
        } finally {
            spark.sparkContext().setJobDescription(before);
        }
    }

    private void publish(Manifest manifest) {
        heldLease().check();
        boolean published = files.publish(
                commits.table(manifest.table()).manifestPath(manifest.iteration(), manifest.round()),
                Json.pretty(manifest));
        // A store may report a conflict with our own write after it retried it.
        if (!published
                && !commits.manifest(manifest.iteration(), manifest.round(), manifest.table())
                        .map(Manifest::attempt)
                        .equals(Optional.of(manifest.attempt()))) {
            throw new InvalidRunException("Cannot commit " + manifest.table().tableName() + " of iteration "
                    + manifest.iteration() + " of " + uri() + ": another driver has committed it; stop this one");
        }
    }

    private void checkState(int iteration, Table table, IterationState state) {
        if (table != Table.METRICS) {
            return;
        }
        if (state == null || (state.checkpoint() == null && iteration > 0)) {
            throw new IllegalArgumentException("Cannot commit iteration " + iteration + " of " + uri()
                    + ": its state names no checkpoint; publish one and pass IterationState.of");
        }
        if (state.checkpoint() != null) {
            Checkpoint checkpoint = checkpoints
                    .find(iteration)
                    .orElseThrow(() -> new InvalidRunException("Cannot commit iteration " + iteration + " of " + uri()
                            + ": its checkpoint is not published"));
            checkpoints.check(checkpoint, state);
        }
    }

    private void retireCheckpoints(int newest) {
        retention.expired(checkpoints.iterations(), newest).forEach(checkpoints::retire);
    }

    private void removeOrphans() {
        int latest = latestCommittedIteration().orElse(-1);
        // Committed iterations were cleaned when they were the newest; only what follows can have orphans.
        commits.removeOrphansFrom(latest);
        checkpoints.removeOrphans();
        checkpoints.iterations().stream()
                .filter(iteration -> iteration > latest)
                .forEach(checkpoints::retire);
        if (latest >= 0) {
            retireCheckpoints(latest);
        }
    }

    private Lease heldLease() {
        if (lease == null) {
            throw new InvalidRunException("Cannot write to the run " + uri() + ": it was opened to read");
        }
        return lease;
    }

    private static void note(List<String> problems, Runnable check) {
        try {
            check.run();
        } catch (InvalidRunException e) {
            problems.add(e.getMessage());
        }
    }
}
