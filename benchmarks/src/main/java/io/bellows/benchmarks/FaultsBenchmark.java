package io.bellows.benchmarks;

import io.bellows.run.FailureMessage;
import io.bellows.run.Progress;
import io.bellows.run.TrainLoop;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.spark.sql.SparkSession;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** One short run, disturbed in every way that is provided for, and held against the undisturbed one. */
@Command(
        name = "faults",
        mixinStandardHelpOptions = true,
        description = "Disturbs a run on two executors in every way, and prints a table of what became of it.")
final class FaultsBenchmark implements Callable<Integer> {

    private static final int ITERATIONS = 2;
    private static final String[] SETTINGS = {"trainer.n_gpus_per_node=2", "trainer.nccl_timeout=10"};

    /** Spark's own deadlines, short: a table of waiting shows little. */
    private static final Map<String, String> DEADLINES = Map.of(
            "spark.network.timeout", "20s",
            "spark.network.timeoutInterval", "5s",
            "spark.executor.heartbeatInterval", "2s",
            "spark.barrier.sync.timeout", "10s",
            "spark.task.reaper.enabled", "true",
            "spark.task.reaper.killTimeout", "10s");

    @Option(names = "--work", description = "Folder for runs, made if needed; default: a temporary one.")
    private Path work;

    @Option(
            names = "--only",
            split = ",",
            defaultValue = "",
            description = "Only faults whose name contains one of these.")
    private List<String> only;

    @Option(names = "--disk", description = "A small file system to fill; without it that fault is left out.")
    private Path disk;

    @Option(names = "--driver", hidden = true, description = "Be a driver that this happens to.")
    private DriverFault driver;

    @Option(names = "--run", hidden = true, description = "The driver's run.")
    private Path run;

    private SparkSession spark;
    private final Losses losses = new Losses();
    private TinyRun.Result expected;
    private double undisturbed;
    private boolean allAsExpected = true;

    /** Disturbs a run and brings it to its end; returns what happened. */
    private interface Disturbance {
        String happen(TinyRun run) throws Exception;
    }

    @Override
    public Integer call() throws Exception {
        work = Files.createDirectories(work == null ? Files.createTempDirectory("bellows-faults") : work)
                .toRealPath();
        if (driver != null) {
            return drive();
        }
        try (SparkSession session = LocalCluster.start(work, 2, withFaults())) {
            spark = session;
            session.sparkContext().addSparkListener(losses);
            measureUndisturbed();
            for (ExecutorFault fault : ExecutorFault.values()) {
                row(fault.about(), work.resolve(fault.name()), tiny -> executor(fault, tiny));
            }
            for (DriverFault fault : List.of(DriverFault.KILLED, DriverFault.DISK_FULL, DriverFault.UNREACHABLE)) {
                Path folder = fault == DriverFault.DISK_FULL ? disk : work.resolve(fault.name());
                if (folder != null) {
                    row(fault.about(), fault.place(Files.createDirectories(folder)), tiny -> driver(fault, tiny));
                }
            }
            row("a byte of a committed table changed (Parquet)", work.resolve("PARQUET"), this::corruptTable);
            row("a byte of the checkpoint changed (safetensors)", work.resolve("TENSORS"), this::corruptCheckpoint);
            row(DriverFault.NONE.about(), work.resolve("SECOND"), this::secondDriver);
        }
        return allAsExpected ? 0 : 1;
    }

    private Map<String, String> withFaults() {
        Map<String, String> properties = new TreeMap<>(DEADLINES);
        properties.put("spark.plugins", FaultPlugin.class.getName());
        properties.put(FaultPlugin.FOLDER, work.toString());
        return properties;
    }

    /** The first one also warms the executors up. */
    private void measureUndisturbed() {
        for (String name : List.of("undisturbed-1", "undisturbed-2")) {
            TinyRun tiny = new TinyRun(work.resolve(name), ITERATIONS, SETTINGS);
            Stopwatch watch = Stopwatch.start();
            tiny.train(spark, Progress.NONE);
            undisturbed = watch.stop().seconds();
            TinyRun.Result result = tiny.result(spark);
            if (expected != null && !expected.equals(result)) {
                throw new IllegalStateException("Cannot compare: two undisturbed runs differ, " + expected + result);
            }
            expected = result;
        }
        System.out.printf(
                "| fault | what happened | seconds lost | rows | weights | verify |%n|---|---|---|---|---|---|%n"
                        + "| none | %.1f s | | %s | `%.8s` | %s |%n",
                undisturbed, expected.rows(), expected.weights(), problems(expected));
    }

    private void row(String about, Path directory, Disturbance disturbance) throws Exception {
        if (only.stream().noneMatch(about::contains)) {
            return;
        }
        TinyRun tiny = new TinyRun(directory, ITERATIONS, SETTINGS);
        losses.reset();
        Stopwatch watch = Stopwatch.start();
        String happened = disturbance.happen(tiny);
        double seconds = watch.stop().seconds() - undisturbed;
        TinyRun.Result result = tiny.result(spark);
        allAsExpected &= result.equals(expected);
        System.out.printf(
                "| %s | %s | %.1f | %s | %s | %s |%n",
                about,
                happened.replace("|", "\\|"),
                seconds,
                result.rows(),
                result.weights().equals(expected.weights()) ? "the same" : "**differ**",
                problems(result));
    }

    private static String problems(TinyRun.Result result) {
        return result.problems().isEmpty() ? "clean" : "**" + result.problems() + "**";
    }

    private String executor(ExecutorFault fault, TinyRun tiny) throws IOException {
        fault.arm(work, tiny.manifest(1, "update"));
        tiny.train(spark, Progress.NONE);
        require(fault.hasHappened(work), fault + " did not happen");
        return "retried: " + losses;
    }

    private String driver(DriverFault fault, TinyRun tiny) throws Exception {
        String said = start(fault, tiny.directory());
        fault.mend(tiny.directory());
        tiny.train(spark, Progress.NONE);
        return said + "; resumed by the next start";
    }

    private String corruptTable(TinyRun tiny) throws IOException {
        String failed = failure(() -> tiny.train(spark, new AtStage(2, "update_actor", () -> flipByte(table(tiny)))));
        String refused = failure(() -> tiny.train(spark, Progress.NONE));
        for (String later : List.of("experience", "update")) {
            Files.deleteIfExists(tiny.manifest(2, later));
        }
        tiny.train(spark, Progress.NONE);
        return failed + "; started again: " + refused + "; after that remedy the next start resumed";
    }

    private static Path table(TinyRun tiny) {
        return largest(tiny.manifest(2, "experience").getParent(), ".parquet");
    }

    private String corruptCheckpoint(TinyRun tiny) {
        new TrainLoop(spark, tiny.config(), Progress.NONE).run(1, TrainLoop.Stage.UPDATE);
        Path weights = largest(tiny.directory().resolve("checkpoints/000001/optimizer"), ".safetensors");
        flipByte(weights);
        String refused = failure(() -> tiny.train(spark, Progress.NONE));
        flipByte(weights);
        tiny.train(spark, Progress.NONE);
        return refused + "; with the file restored the next start resumed";
    }

    private String secondDriver(TinyRun tiny) {
        StringBuilder said = new StringBuilder();
        tiny.train(spark, new AtStage(2, "update_actor", () -> said.append(start(DriverFault.NONE, tiny.directory()))));
        return "the second " + said + "; the first ended in order (it waited here until the second had ended)";
    }

    /** A driver as a process of its own, with executors of its own; returns how it ended. */
    private String start(DriverFault fault, Path directory) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Benchmarks.class.getName(), "faults"));
        Path own = work.resolve("driver-" + fault);
        command.addAll(List.of("--work", own.toString(), "--driver", fault.name(), "--run", directory.toString()));
        try {
            Files.createDirectories(own);
            Path log = own.resolve("log");
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            try {
                require(process.waitFor(3, TimeUnit.MINUTES), "a driver did not end in three minutes; see " + log);
            } finally {
                process.destroyForcibly();
            }
            require(process.exitValue() != 0, "nothing happened to a driver; see " + log);
            return fault == DriverFault.KILLED ? "died" : lastLine(log);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private static String lastLine(Path log) throws IOException {
        try (Stream<String> lines = Files.lines(log)) {
            return lines.filter(line -> line.startsWith("failed: "))
                    .reduce((first, second) -> second)
                    .orElseThrow(() -> new IllegalStateException("Cannot tell how a driver ended: see " + log));
        }
    }

    /** What the other process does. */
    private int drive() throws IOException {
        TinyRun tiny = new TinyRun(run, ITERATIONS, SETTINGS);
        try (SparkSession session = LocalCluster.start(work, 2, DEADLINES)) {
            tiny.train(session, new AtStage(2, "update_actor", () -> driver.happen(run)));
            return 0;
        } catch (Exception e) { // Spark throws checked ones that it does not declare
            e.printStackTrace();
            System.out.println("failed: " + FailureMessage.of(e));
            return 1;
        }
    }

    private static String failure(Runnable action) {
        try {
            action.run();
        } catch (Exception e) { // Spark throws checked ones that it does not declare
            return "refused: " + FailureMessage.of(e);
        }
        throw new IllegalStateException("Cannot tell what became of a fault: nothing did");
    }

    private static Path largest(Path folder, String ending) {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> file.toString().endsWith(ending))
                    .max(Comparator.comparingLong((Path file) -> file.toFile().length()))
                    .orElseThrow();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void flipByte(Path file) {
        try {
            byte[] content = Files.readAllBytes(file);
            content[content.length / 2] ^= 1;
            Files.write(file, content);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void require(boolean condition, String problem) {
        if (!condition) {
            throw new IllegalStateException("Cannot fill in the table: " + problem);
        }
    }
}
