package io.bellows.reward;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.URI;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.spark.TaskContext;
import org.apache.spark.util.TaskCompletionListener;

/**
 * A reward function in a process of its own, see {@link RewardProcess}: one that spins, takes all memory or ends the JVM costs its trajectory
 * the reward and nothing else. A process that does not answer in time is killed; the next trajectory gets a new one. It ends with the Spark
 * task that asked it.
 *
 * <p>What runs there is named by the configuration and made by {@link RewardRegistry}; trajectories reach it as data only. It keeps the
 * function from hurting the executor by accident. It is no sandbox: files and network are open to it.
 */
final class ProcessReward implements RewardFunction {

    private static final long serialVersionUID = 1;
    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final Duration START = Duration.ofMinutes(1);
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(500);
    private static final String GONE = "";

    /** What a process needs to start; nothing else of the executor's environment, where secrets are, is handed on. */
    private static final Set<String> ENVIRONMENT =
            Set.of("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "LD_LIBRARY_PATH");

    private final String name;
    private final Map<String, Object> options;
    private final Duration timeout;
    private final int memoryMb;
    private transient Child child;
    private transient String unusable;

    /**
     * A function that has started no process yet.
     *
     * @param factory makes the function
     * @param options its options
     * @param timeout for one trajectory
     * @param memoryMb Java heap of the process
     */
    ProcessReward(RewardFactory factory, Map<String, Object> options, Duration timeout, int memoryMb) {
        this.name = factory.name();
        this.options = options;
        this.timeout = timeout;
        this.memoryMb = memoryMb;
    }

    @Override
    public synchronized RewardOutcome score(RewardInput input) {
        if (unusable != null) {
            return RewardOutcome.failed(unusable); // a start takes seconds: not again for every trajectory of the task
        }
        try {
            if (child == null) {
                child = start();
            }
            String answer = child.ask(JSON.writeValueAsString(input), timeout);
            if (answer == null || answer.equals(GONE)) {
                end();
                return RewardOutcome.failed(
                        answer == null
                                ? "it took longer than " + timeout.toMillis() / 1000.0 + " s and was killed"
                                : "its process ended, for want of memory or because the function ended it");
            }
            return outcome(answer);
        } catch (IOException e) {
            end();
            return RewardOutcome.failed("Cannot ask the process of the reward: " + e.getMessage());
        } catch (InterruptedException e) {
            end();
            Thread.currentThread().interrupt();
            return RewardOutcome.failed("interrupted");
        }
    }

    private static RewardOutcome outcome(String line) throws JsonProcessingException {
        JsonNode answer = JSON.readTree(line);
        return switch (RewardOutcome.Status.valueOf(answer.path("status").asText())) {
            case SCORED -> RewardOutcome.of(answer.path("value").doubleValue());
            case UNSCORED -> RewardOutcome.unscored(answer.path("reason").asText());
            case FAILED -> RewardOutcome.failed(answer.path("reason").asText());
        };
    }

    private Child start() throws IOException, InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        ProcessBuilder builder = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx" + memoryMb + "m",
                        "-XX:+UseSerialGC",
                        "-XX:+ExitOnOutOfMemoryError",
                        "-XX:+DisplayVMOutputToStderr", // its last words are no answer
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        classPath(),
                        RewardProcess.class.getName())
                .redirectError(Redirect.DISCARD);
        builder.environment().keySet().retainAll(ENVIRONMENT);
        String key = UUID.randomUUID().toString();
        Child started = new Child(builder.start(), key);
        boolean ready = false;
        try {
            TaskContext task = TaskContext.get();
            if (task != null) {
                task.addTaskCompletionListener((TaskCompletionListener) over -> started.kill());
            }
            String said =
                    started.ask(JSON.writeValueAsString(Map.of("name", name, "options", options, "key", key)), START);
            ready = RewardProcess.READY.equals(said);
            if (!ready) {
                unusable = "Cannot start the process of the reward: "
                        + (said == null || said.equals(GONE)
                                ? "it said nothing; see that process_memory_mb=" + memoryMb
                                        + " can be had, and that the" + " jar of " + name
                                        + " is on the class path of the executors"
                                : said);
                throw new IOException(unusable);
            }
            return started;
        } finally {
            if (!ready) {
                started.kill();
            }
        }
    }

    /** That of this JVM, and what Spark loaded later, such as the jars of {@code --jars}. */
    private static String classPath() {
        Set<String> entries = new LinkedHashSet<>();
        entries.add(System.getProperty("java.class.path"));
        for (ClassLoader start : Arrays.asList(
                ProcessReward.class.getClassLoader(), Thread.currentThread().getContextClassLoader())) {
            for (ClassLoader loader = start; loader != null; loader = loader.getParent()) {
                if (loader instanceof URLClassLoader known) {
                    Stream.of(known.getURLs())
                            .filter(url -> url.getProtocol().equals("file"))
                            .forEach(url -> entries.add(new File(URI.create(url.toString())).getPath()));
                }
            }
        }
        return String.join(File.pathSeparator, entries);
    }

    private void end() {
        if (child != null) {
            child.kill();
            child = null;
        }
    }

    /**
     * A running process; questions go out and answers come in by a thread each, since neither a write nor a read has a time limit: a
     * process that reads nothing takes what its pipe holds, and then a write stands. An answer begins with the process's key and the
     * number of the question: whatever else comes out of it, such as what a library prints, is none.
     */
    private static final class Child {
        private final Process process;
        private final String key;
        private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
        private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
        private final Thread writer;
        private long questions;

        Child(Process process, String key) {
            this.process = process;
            this.key = key;
            this.writer = started(this::write, "bellows-reward-questions");
            started(this::read, "bellows-reward-answers");
        }

        private static Thread started(Runnable work, String name) {
            Thread thread = new Thread(work, name);
            thread.setDaemon(true);
            thread.start();
            return thread;
        }

        private void write() {
            try (BufferedWriter input = process.outputWriter(StandardCharsets.UTF_8)) {
                while (true) {
                    input.write(lines.take());
                    input.write('\n');
                    input.flush();
                }
            } catch (IOException | InterruptedException e) {
                // It ended before it read this, which its reader notices, or was killed.
            }
        }

        private void read() {
            try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
                for (String line = output.readLine(); line != null; line = output.readLine()) {
                    if (line.startsWith(key)) {
                        answers.add(line);
                    }
                }
            } catch (IOException e) {
                // killed
            }
            answers.add(GONE);
        }

        /** The answer to a line, null if there is none in time, {@link #GONE} if there will be none. */
        String ask(String line, Duration patience) throws InterruptedException {
            String prefix = RewardProcess.prefix(key, questions++);
            lines.add(line);
            long end = System.nanoTime() + patience.toNanos();
            for (long left = patience.toNanos(); left > 0; left = end - System.nanoTime()) {
                String answer = answers.poll(Math.min(left, BETWEEN_LOOKS.toNanos()), TimeUnit.NANOSECONDS);
                if (answer != null && answer.equals(GONE)) {
                    return GONE;
                }
                if (answer != null && answer.startsWith(prefix)) {
                    return answer.substring(prefix.length());
                }
                if (TaskContext.get() != null && TaskContext.get().isInterrupted()) {
                    throw new InterruptedException();
                }
            }
            return null;
        }

        /** What the function started itself, too. */
        void kill() {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
            writer.interrupt();
        }
    }
}
