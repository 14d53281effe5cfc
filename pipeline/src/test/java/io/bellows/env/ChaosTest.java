package io.bellows.env;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.bellows.reward.RewardOutcome;
import io.bellows.reward.RewardScore;
import io.bellows.text.Message;
import io.bellows.trajectory.Outcome;
import io.bellows.trajectory.Outcome.Status;
import java.io.IOException;
import java.io.InputStream;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A thousand trajectories, in groups, of environments, models and comparisons that do what they should not. */
@Tag("slow")
@SuppressWarnings({"UnusedMethod", "UnusedVariable", "InfiniteRecursion"}) // handlers are found by their annotations
class ChaosTest extends EnvironmentTest {

    private static final int GROUPS = 125;
    private static final int SAMPLES = 8;
    private static final int SPINNING =
            3; // each keeps a core until the test ends it; the comparison of one group does too

    private static final Duration CLEANUP = Duration.ofSeconds(5);
    private static final RolloutLimits LIMITS = limits(Duration.ofSeconds(50));
    private static final RolloutLimits UNTIL_COMPARED = limits(Duration.ofSeconds(12));
    private static final RolloutLimits HASTY = limits(Duration.ofSeconds(4));

    /** What a trajectory does wrong, and what the record has to say of it. */
    private enum Fault {
        NONE(Status.TRUNCATED, "max_turns_reached"),
        THROWS(Status.FAILED, "has_error"),
        ERROR(Status.FAILED, "has_error"),
        STACK_OVERFLOW(Status.FAILED, "has_error"),
        OWN_TIMEOUT(Status.FAILED, "has_error"),
        INTERRUPTS_ITSELF(Status.TRUNCATED, "max_turns_reached"),
        SLEEPS(Status.TRUNCATED, "timeout"),
        SPINS(Status.TRUNCATED, "timeout"),
        SAYS_NOTHING(Status.FAILED, "has_error"),
        HUGE(Status.TRUNCATED, "max_response_length"),
        GARBAGE(Status.TRUNCATED, "max_turns_reached"),
        MODEL_FAILS(Status.FAILED, "has_error"),
        MODEL_SILENT(Status.TRUNCATED, "timeout");

        private final Outcome.Status status;
        private final String stop;

        Fault(Outcome.Status status, String stop) {
            this.status = status;
            this.stop = stop;
        }

        boolean hangs() {
            return stop.equals("timeout");
        }
    }

    /** What the comparison of a group does, and what this makes of the scores of those that ended by themselves. */
    private enum Comparison {
        SPINS(RewardOutcome.Status.UNSCORED),
        SLEEPS(RewardOutcome.Status.UNSCORED),
        NONE(RewardOutcome.Status.SCORED),
        THROWS(RewardOutcome.Status.FAILED),
        ERROR(RewardOutcome.Status.FAILED),
        TOO_FEW(RewardOutcome.Status.FAILED),
        NOT_A_NUMBER(RewardOutcome.Status.FAILED);

        private final RewardOutcome.Status status;

        Comparison(RewardOutcome.Status status) {
            this.status = status;
        }

        boolean hangs() {
            return this == SPINS || this == SLEEPS;
        }
    }

    @TempDir
    private Path folder;

    private final Map<Integer, Integer> compared = new ConcurrentHashMap<>();
    private final AtomicBoolean over = new AtomicBoolean();
    private final Map<Integer, Integer> ended = new ConcurrentHashMap<>();
    private final AtomicInteger setups = new AtomicInteger();
    private final AtomicInteger cleanups = new AtomicInteger();

    private final class Faulty extends MultiTurnEnv {
        private final Fault fault;
        private InputStream file;
        private int answers;

        Faulty(Fault fault) {
            this.fault = fault;
            maxTurns(2);
        }

        @Setup
        void begin() throws IOException {
            file = Files.newInputStream(folder.resolve("held"));
            setups.incrementAndGet();
        }

        @Cleanup
        void free() throws IOException {
            file.close();
            cleanups.incrementAndGet();
        }

        @Override
        protected List<Message> envResponse(State state) throws Exception {
            assertThat(++answers).isEqualTo(1); // nobody else's state
            switch (fault) {
                case THROWS -> throw new Exception("x".repeat(1_000_000));
                case ERROR -> throw new LinkageError("System.exit, nearly");
                case STACK_OVERFLOW -> overflow(0);
                case OWN_TIMEOUT -> throw new SocketTimeoutException();
                case INTERRUPTS_ITSELF -> Thread.currentThread().interrupt();
                case SLEEPS -> Thread.sleep(60_000);
                case SPINS -> {
                    while (!over.get()) {
                        Thread.onSpinWait();
                    }
                }
                case HUGE -> {
                    return user("\ud800 " + "long ".repeat(20_000));
                }
                default -> {}
            }
            return fault == Fault.SAYS_NOTHING ? null : user("\u0000\uffff go on");
        }

        @Reward
        double one() {
            return 1;
        }

        @GroupReward
        List<Double> size(List<State> states) throws InterruptedException {
            states.forEach(state -> compared.merge(state.id().sampleIndex(), 1, Integer::sum));
            double size = states.size();
            return switch (comparison(states.get(0).id().sampleIndex())) {
                case THROWS -> throw new IllegalStateException("no connection");
                case ERROR -> throw new LinkageError("System.exit, nearly");
                case TOO_FEW -> List.of();
                case NOT_A_NUMBER -> Collections.nCopies(states.size(), Double.NaN);
                case SLEEPS -> {
                    Thread.sleep(600_000);
                    yield List.of();
                }
                case SPINS -> {
                    while (!over.get()) {
                        Thread.onSpinWait();
                    }
                    yield Collections.nCopies(states.size(), size);
                }
                case NONE -> Collections.nCopies(states.size(), size);
            };
        }

        private int overflow(int depth) {
            return overflow(depth + 1) + 1;
        }
    }

    private CompletableFuture<ModelTurn> answer(ModelRequest request) {
        Fault fault = fault(request.trajectory().sampleIndex());
        return switch (fault) {
            case MODEL_FAILS -> CompletableFuture.failedFuture(new ModelException("no logits", null));
            case MODEL_SILENT -> new CompletableFuture<>();
            case GARBAGE -> {
                Random random = new Random(request.trajectory().sampleIndex());
                int[] ids =
                        random.ints(20, 0, chat.tokenizer().vocabSize() + 50).toArray();
                yield CompletableFuture.completedFuture(
                        ScriptedModel.turn(chat.tokenizer(), ids, ModelTurn.Finish.STOP));
            }
            default -> CompletableFuture.completedFuture(ScriptedModel.turn(chat.tokenizer(), request, "hello"));
        };
    }

    private static RolloutLimits limits(Duration timeout) {
        return new RolloutLimits(400, 1000, 2000, timeout, CLEANUP);
    }

    private static Fault fault(int index) {
        Fault fault = Fault.values()[index % Fault.values().length];
        return fault == Fault.SPINS && index >= SPINNING * Fault.values().length ? Fault.NONE : fault;
    }

    private static Comparison comparison(int index) {
        int group = index / SAMPLES;
        Comparison comparison = Comparison.values()[group % Comparison.values().length];
        return comparison == Comparison.SPINS && group > 0 ? Comparison.NONE : comparison;
    }

    private CompletableFuture<State> begin(GroupRollout group, int index) {
        Fault fault = fault(index);
        RolloutLimits limits = comparison(index).hangs() ? UNTIL_COMPARED : LIMITS;
        Example row = example(JsonNodeFactory.instance.objectNode());
        return group.rollout(
                new Faulty(fault),
                state(fault.hangs() ? HASTY : limits, index, row),
                () -> ended.merge(index, 1, Integer::sum));
    }

    @Test
    void aThousandInGroupsAllEndOnceInTimeWithTheirStatusAndScoreAndLeaveNothingBehind() throws Exception {
        Files.writeString(folder.resolve("held"), "open while the trajectory is");
        ScriptedModel model = new ScriptedModel(this::answer);
        Set<Thread> before = Thread.getAllStackTraces().keySet();
        Map<Integer, CompletableFuture<State>> running = new HashMap<>();
        try (Workers many = new Workers(256, Duration.ofSeconds(1))) {
            rollOut(new Faulty(Fault.NONE), model); // loads classes
            long files = openFiles();
            long end = System.nanoTime()
                    + LIMITS.timeout()
                            .plus(UNTIL_COMPARED.timeout())
                            .plus(CLEANUP)
                            .toNanos();
            for (int first = 0; first < GROUPS * SAMPLES; first += SAMPLES) {
                GroupRollout group = new GroupRollout(SAMPLES, model, many);
                for (int index = first; index < first + SAMPLES; index++) {
                    running.put(index, begin(group, index));
                }
            }
            List<String> wrong = new ArrayList<>();
            for (Map.Entry<Integer, CompletableFuture<State>> entry : running.entrySet()) {
                State state = entry.getValue().get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
                wrong.addAll(wrong(entry.getKey(), state));
            }
            assertThat(wrong).isEmpty();
            assertThat(running).hasSize(1000);
            assertThat(ended)
                    .hasSize(1000)
                    .allSatisfy((index, times) -> assertThat(times).isOne());
            assertThat(cleanups).hasValue(1001);
            assertThat(setups).hasValue(1001);
            assertThat(model.left).hasValue(1001);
            assertThat(many.abandoned()).isEqualTo(SPINNING + 1); // what sleeps has left no thread behind
            assertThat(openFiles()).isLessThan(files + 10); // each fault has more trajectories than that
        } finally {
            over.set(true);
        }
        workers.close();
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (!before.contains(thread) && thread.getName().startsWith("bellows-environment-")) {
                thread.join(10_000);
                assertThat(thread.isAlive()).as(thread.getName()).isFalse();
            }
        }
    }

    private List<String> wrong(int index, State state) {
        Fault fault = fault(index);
        Comparison comparison = comparison(index);
        boolean failed = fault.status == Status.FAILED;
        int times = failed || fault.hangs() ? 0 : 1; // in a comparison
        boolean unsampled = failed || state.trajectory().isEmpty();
        boolean score = unsampled
                ? state.score() == null
                : isRight(fault, comparison, state.score().score());
        boolean right = score
                && state.id().sampleIndex() == index
                && state.outcome().status() == fault.status
                && fault.stop.equals(state.stopCondition())
                && compared.getOrDefault(index, 0) == times;
        return right
                ? List.of()
                : List.of(index + " " + fault + ", " + comparison + ": " + state.outcome() + " " + state.score());
    }

    /** What was out of time before it was scored has no reward, whatever the comparison says. */
    private static boolean isRight(Fault fault, Comparison comparison, RewardScore score) {
        if (fault.hangs()) {
            return score.reward() == null && score.status() == RewardOutcome.Status.UNSCORED;
        }
        boolean scored = score.status() == RewardOutcome.Status.SCORED;
        return score.status() == comparison.status && scored == (score.reward() != null && score.reward() > 1);
    }
}
