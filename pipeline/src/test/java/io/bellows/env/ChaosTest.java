package io.bellows.env;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.bellows.text.Message;
import io.bellows.trajectory.Outcome;
import io.bellows.trajectory.Outcome.Status;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Several hundred trajectories of environments and models that do what they should not. */
@SuppressWarnings({"UnusedMethod", "UnusedVariable", "InfiniteRecursion"}) // handlers are found by their annotations
class ChaosTest extends EnvironmentTest {

    private static final int EACH = 40;
    private static final int SPINNING = 4; // each keeps a core until the test ends it

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
    }

    private final AtomicBoolean over = new AtomicBoolean();
    private final AtomicInteger setups = new AtomicInteger();
    private final AtomicInteger cleanups = new AtomicInteger();

    private final class Faulty extends MultiTurnEnv {
        private final Fault fault;
        private int answers;

        Faulty(Fault fault) {
            this.fault = fault;
            maxTurns(2);
        }

        @Setup
        void begin() {
            setups.incrementAndGet();
        }

        @Cleanup
        void free() {
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

    private static Fault fault(int index) {
        return Fault.values()[index % Fault.values().length];
    }

    @Test
    void noTrajectoryIsLostOrDoubledAndEveryRecordSaysWhatHappened() throws Exception {
        RolloutLimits limits = new RolloutLimits(400, 1000, 2000, Duration.ofSeconds(60), Duration.ofSeconds(5));
        RolloutLimits hasty = new RolloutLimits(400, 1000, 2000, Duration.ofMillis(1500), Duration.ofSeconds(5));
        ScriptedModel model = new ScriptedModel(this::answer);
        try (Workers many = new Workers(128, Duration.ofMillis(300))) {
            Map<Integer, CompletableFuture<State>> running = new HashMap<>();
            for (int index = 0; index < EACH * Fault.values().length; index++) {
                Fault fault = fault(index);
                if (fault == Fault.SPINS && index >= SPINNING * Fault.values().length) {
                    continue;
                }
                boolean hangs = fault.stop.equals("timeout");
                State state = state(hangs ? hasty : limits, index, example(JsonNodeFactory.instance.objectNode()));
                running.put(index, new Faulty(fault).rollout(state, model, many));
            }
            List<String> wrong = new ArrayList<>();
            for (Map.Entry<Integer, CompletableFuture<State>> entry : running.entrySet()) {
                State state = entry.getValue().get(60, TimeUnit.SECONDS);
                Fault fault = fault(entry.getKey());
                assertThat(state.id().sampleIndex()).isEqualTo(entry.getKey());
                if (state.outcome().status() != fault.status || !fault.stop.equals(state.stopCondition())) {
                    wrong.add(fault + ": " + state.outcome());
                }
            }
            assertThat(wrong).isEmpty();
            assertThat(cleanups).hasValue(running.size());
            assertThat(setups).hasValue(running.size());
            assertThat(model.left).hasValue(running.size());
            assertThat(many.abandoned()).isEqualTo(SPINNING); // what sleeps has left no thread behind
        } finally {
            over.set(true);
        }
    }
}
