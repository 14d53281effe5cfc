package io.bellows.env;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.text.toolcall.ToolCallFormat;
import io.bellows.tool.NativeTool;
import io.bellows.tool.ToolLimits;
import io.bellows.tool.ToolLimits.Truncation;
import io.bellows.tool.ToolRegistry;
import io.bellows.tool.ToolResponse;
import io.bellows.trajectory.Outcome;
import io.bellows.trajectory.Outcome.Status;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A thousand trajectories, begun at once, with tools and models that do what they should not. */
@SuppressWarnings("InfiniteRecursion") // tools do what they should not
class ToolChaosTest extends EnvironmentTest {

    private static final int TRAJECTORIES = 1000;
    private static final int SPINNING = 2; // each keeps a core until the test ends it

    private static final Duration DEADLINE = Duration.ofSeconds(60);
    private static final Duration CLEANUP = Duration.ofSeconds(5);
    private static final RolloutLimits LIMITS = new RolloutLimits(2000, 2000, 5000, DEADLINE, CLEANUP);
    private static final RolloutLimits HASTY = new RolloutLimits(2000, 2000, 5000, Duration.ofSeconds(1), CLEANUP);

    /** What a trajectory does wrong, and what the record has to say of it. */
    private enum Fault {
        NONE("tool_calls_succeeded"),
        THROWS("tool_calls_failed_exception"),
        THROWS_AND_CANNOT_SAY_WHAT("tool_calls_failed_exception"),
        ERROR("tool_calls_failed_infrastructure"),
        STACK_OVERFLOW("tool_calls_failed_exception"),
        OUT_OF_MEMORY("tool_calls_failed_infrastructure"),
        SLEEPS("tool_calls_failed_timeout"),
        SPINS("tool_calls_failed_timeout"),
        NEVER_DONE("tool_calls_failed_timeout"),
        SLEEPS_WHEN_PRINTED("tool_calls_failed_timeout"),
        FIVE_MEGABYTES("tool_responses_truncated"),
        INVALID_UTF8("tool_calls_succeeded"),
        HALF_A_CHARACTER("tool_calls_succeeded"),
        NOT_A_NUMBER("tool_calls_failed_exception"),
        INTERRUPTS_ITSELF("tool_calls_succeeded"),
        SETUP_THROWS("tool_calls_failed_infrastructure"),
        SETUP_SLEEPS("tool_calls_failed_infrastructure"),
        REWARD_THROWS("tool_rewards_failed"),
        RELEASE_THROWS("tool_calls_succeeded"),
        RELEASE_SLEEPS("tool_calls_succeeded"),
        UNKNOWN_TOOL("tool_calls_failed_unknown_tool"),
        WRONG_ARGUMENTS("tool_calls_failed_invalid_arguments"),
        UNFINISHED_CALL("tool_calls_malformed"),
        GARBAGE(Status.COMPLETED, "no_tools_called"),
        MODEL_FAILS(Status.FAILED, "has_error"),
        MODEL_SILENT(Status.TRUNCATED, "timeout"),
        SLEEPS_TOO_LONG(Status.TRUNCATED, "timeout");

        private final Status status;
        private final String stop;
        private final String counted;

        /** The model is told, answers, and the trajectory is complete. */
        Fault(String counted) {
            this.status = Status.COMPLETED;
            this.stop = "no_tools_called";
            this.counted = counted;
        }

        Fault(Status status, String stop) {
            this.status = status;
            this.stop = stop;
            this.counted = null;
        }

        boolean hangs() {
            return stop.equals("timeout");
        }
    }

    private static final AtomicBoolean over = new AtomicBoolean();
    private static final AtomicInteger created = new AtomicInteger();
    private static final AtomicInteger released = new AtomicInteger();
    private static final Set<Thread> spinning = ConcurrentHashMap.newKeySet();

    /** Does what it is told to, and holds a file while it is open. */
    public static final class Faulty implements NativeTool {
        private InputStream file;
        private int calls;

        @Override
        public String toolSchema() {
            return """
                    {"type": "function", "function": {"name": "faulty", "parameters": {"type": "object",
                     "properties": {"fault": {"type": "string"}}, "required": ["fault"]}}}""";
        }

        @Override
        public void create(ObjectNode createKwargs) throws Exception {
            file = new FileInputStream(createKwargs.get("file").asText());
            created.incrementAndGet();
            switch (fault(createKwargs)) {
                case SETUP_THROWS -> throw new IOException("no room");
                case SETUP_SLEEPS -> Thread.sleep(600_000);
                default -> {}
            }
        }

        @Override
        public Object execute(ObjectNode arguments, ObjectNode executeKwargs) throws Exception {
            assertThat(++calls).isEqualTo(1); // nobody else's state
            return switch (fault(arguments)) {
                case THROWS -> throw new Exception("x".repeat(1_000_000));
                case THROWS_AND_CANNOT_SAY_WHAT ->
                    throw new IllegalStateException() {
                        @Override
                        public String getMessage() {
                            throw new IllegalArgumentException("nor this");
                        }
                    };
                case ERROR -> throw new LinkageError("System.exit, nearly");
                case STACK_OVERFLOW -> overflow(0);
                case OUT_OF_MEMORY -> throw new OutOfMemoryError("heap");
                case SLEEPS, SLEEPS_TOO_LONG -> {
                    Thread.sleep(600_000);
                    yield "late";
                }
                case SPINS -> {
                    spinning.add(Thread.currentThread());
                    while (!over.get()) {
                        Thread.onSpinWait();
                    }
                    yield "late";
                }
                case NEVER_DONE -> new CompletableFuture<>().get();
                case SLEEPS_WHEN_PRINTED ->
                    new Object() {
                        @Override
                        public String toString() {
                            try {
                                Thread.sleep(600_000);
                            } catch (InterruptedException e) {
                                Thread.currentThread().interrupt();
                            }
                            return "late";
                        }
                    };
                case FIVE_MEGABYTES -> "0123456789".repeat(500_000);
                case INVALID_UTF8 -> new byte[] {(byte) 0xff, 'a', (byte) 0xc3, 0, (byte) 0xed, (byte) 0xa0};
                case HALF_A_CHARACTER -> "\udc00\ud800";
                case NOT_A_NUMBER -> new ToolResponse("", Double.NaN, Map.of());
                case INTERRUPTS_ITSELF -> {
                    Thread.currentThread().interrupt();
                    yield "go on";
                }
                default -> "go on";
            };
        }

        private static int overflow(int depth) {
            return overflow(depth + 1) + 1;
        }

        @Override
        public Double calcReward(ObjectNode calcRewardKwargs) {
            if (fault(calcRewardKwargs) == Fault.REWARD_THROWS) {
                throw new AssertionError("no reward");
            }
            return null;
        }

        @Override
        public void release(ObjectNode releaseKwargs) throws Exception {
            file.close();
            released.incrementAndGet();
            switch (fault(releaseKwargs)) {
                case RELEASE_THROWS -> throw new AssertionError("cannot release");
                case RELEASE_SLEEPS -> Thread.sleep(600_000);
                default -> {}
            }
        }

        private static Fault fault(ObjectNode arguments) {
            return Fault.valueOf(arguments.get("fault").asText().toUpperCase(Locale.ROOT));
        }
    }

    @TempDir
    private Path folder;

    private static Fault fault(int index) {
        Fault fault = Fault.values()[index % Fault.values().length];
        return fault == Fault.SPINS && index >= SPINNING * Fault.values().length ? Fault.NONE : fault;
    }

    /** A row that tells the tool what to do before and after the calls. */
    private Example row(Fault fault, Path file) {
        ObjectNode columns = JsonNodeFactory.instance.objectNode();
        ObjectNode kwargs =
                columns.putObject("extra_info").putObject("tools_kwargs").putObject("faulty");
        for (String phase : List.of("create_kwargs", "calc_reward_kwargs", "release_kwargs")) {
            kwargs.putObject(phase).put("fault", fault.name()).put("file", file.toString());
        }
        return example(columns);
    }

    private static CompletableFuture<ModelTurn> answer(ModelRequest request) {
        int index = request.trajectory().sampleIndex();
        Fault fault = fault(index);
        if (request.turn() > 0) {
            return says(request, "done");
        }
        return switch (fault) {
            case MODEL_FAILS -> CompletableFuture.failedFuture(new ModelException("no logits", null));
            case MODEL_SILENT -> new CompletableFuture<>();
            case GARBAGE -> {
                int ids = chat.tokenizer().vocabSize() + 50;
                yield CompletableFuture.completedFuture(ScriptedModel.turn(
                        chat.tokenizer(), new Random(index).ints(20, 0, ids).toArray(), ModelTurn.Finish.STOP));
            }
            case UNFINISHED_CALL -> says(request, "<tool_call>\n{\"name\": \"faulty\", \"arguments\": {\"fa");
            case UNKNOWN_TOOL -> says(request, call("format_disk", "{}"));
            case WRONG_ARGUMENTS -> says(request, call("faulty", "{\"fault\": [1]}"));
            default -> says(request, call("faulty", "{\"fault\": \"" + fault + "\"}"));
        };
    }

    private static CompletableFuture<ModelTurn> says(ModelRequest request, String text) {
        return CompletableFuture.completedFuture(ScriptedModel.turn(chat.tokenizer(), request, text));
    }

    private static String call(String name, String arguments) {
        return "<tool_call>\n{\"name\": \"" + name + "\", \"arguments\": " + arguments + "}\n</tool_call>";
    }

    @Test
    void aThousandTrajectoriesWithFaultyToolsAllEndInTimeWithTheirStatusAndLeaveNothingBehind() throws Exception {
        Path file = Files.writeString(folder.resolve("held"), "open while the tool is");
        ToolRegistry registry = ToolRegistry.builder()
                .allowPackages(List.of("io.bellows.env"))
                .limits(new ToolLimits(Duration.ofSeconds(5), Duration.ofSeconds(1), 64, Truncation.MIDDLE, 1, 256))
                .nativeTools("chaos.yaml", "tools: [{class_name: io.bellows.env.ToolChaosTest$Faulty}]")
                .build();
        ScriptedModel model = new ScriptedModel(ToolChaosTest::answer);
        try (Workers many = new Workers(256, Duration.ofSeconds(1))) {
            environment(registry)
                    .rollout(state(LIMITS, 0, row(Fault.NONE, file)), model, many)
                    .get(); // loads classes
            long files = openFiles();
            Map<Integer, CompletableFuture<State>> running = new HashMap<>();
            long start = System.nanoTime();
            for (int index = 0; index < TRAJECTORIES; index++) {
                Fault fault = fault(index);
                State state = state(fault.hangs() ? HASTY : LIMITS, index, row(fault, file));
                running.put(index, environment(registry).rollout(state, model, many));
            }
            long end = start + DEADLINE.plus(CLEANUP).toNanos();
            List<String> wrong = new ArrayList<>();
            for (Map.Entry<Integer, CompletableFuture<State>> entry : running.entrySet()) {
                State state = entry.getValue().get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
                assertThat(state.id().sampleIndex()).isEqualTo(entry.getKey());
                wrong.addAll(wrong(fault(entry.getKey()), state));
            }
            assertThat(wrong).isEmpty();
            assertThat(model.left).hasValue(TRAJECTORIES + 1);
            assertThat(many.abandoned()).isZero();
            assertThat(registry.abandonedCalls()).isEqualTo(SPINNING);
            assertThat(threadsOfTools()).containsExactlyInAnyOrderElementsOf(spinning);
            over.set(true);
            assertThat(threadsOfTools()).isEmpty();
            assertThat(released).hasValue(created.get());
            assertThat(openFiles()).isLessThan(files + 10); // each fault has more trajectories than that
        } finally {
            over.set(true);
        }
    }

    private static ToolEnv environment(ToolRegistry registry) {
        ToolEnv environment = new ToolEnv(registry, ToolCallFormat.named("hermes"));
        environment.maxTurns(4);
        return environment;
    }

    private static List<String> wrong(Fault fault, State state) {
        Outcome outcome = state.outcome();
        boolean counted = fault.counted == null || state.metrics().containsKey(fault.counted);
        return outcome.status() == fault.status && fault.stop.equals(state.stopCondition()) && counted
                ? List.of()
                : List.of(fault + ": " + outcome + " " + state.metrics());
    }

    /** Threads of tools that go on; those that are about to end have ended. */
    private static List<Thread> threadsOfTools() throws InterruptedException {
        List<Thread> live = new ArrayList<>();
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().equals("tool-faulty")) {
                if (over.get() || !spinning.contains(thread)) {
                    thread.join(10_000);
                }
                if (thread.isAlive()) {
                    live.add(thread);
                }
            }
        }
        return live;
    }
}
