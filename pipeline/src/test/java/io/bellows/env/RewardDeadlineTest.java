package io.bellows.env;

import static org.assertj.core.api.Assertions.assertThat;

import io.bellows.reward.RewardOutcome.Status;
import io.bellows.reward.RewardScore;
import io.bellows.text.Message;
import io.bellows.trajectory.Outcome;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A reward that there was no time for is unscored: never 0, never asked of another, and its trajectory stays as it ended. */
@SuppressWarnings("UnusedMethod") // found by their annotations
class RewardDeadlineTest extends EnvironmentTest {

    private static final Duration SHORT = Duration.ofSeconds(2);

    private final CountDownLatch never = new CountDownLatch(1);

    @AfterEach
    void release() {
        never.countDown();
    }

    /** Its reward does not end by itself. */
    private class Slow extends MultiTurnEnv {
        /** Ends after the model's turn, unless a test asks for more. */
        @Stop(priority = 1)
        boolean stop(State state) {
            return state.lastStep() != null;
        }

        @Override
        protected List<Message> envResponse(State state) {
            throw new IllegalStateException("not reached");
        }

        @Reward
        double slow() throws InterruptedException {
            never.await();
            return 1;
        }

        @Reward
        double atOnce() {
            return 1;
        }
    }

    private static void assertUnscored(State state) {
        RewardScore score = state.score().score();
        assertThat(score.status()).isEqualTo(Status.UNSCORED);
        assertThat(score.reward()).isNull();
        assertThat(score.message()).contains("slow: it did not end within rollout.agent.timeout_s");
    }

    @Test
    void aRewardThatIsInterruptedByTheDeadlineIsUnscoredAndItsTrajectoryComplete() throws Exception {
        State state = rollOut(new Slow(), state(within(SHORT)), saying("4"));
        assertUnscored(state);
        assertThat(state.score().score().components())
                .containsEntry("at_once", 1.0)
                .containsEntry("slow", null);
        assertThat(state.outcome()).isEqualTo(Outcome.completed("stop"));
        assertThat(workers.abandoned()).isZero();
    }

    @Test
    void aRewardThatIgnoresItsInterruptionIsUnscoredToo() throws Exception {
        State state = rollOut(
                new Slow() {
                    @Override
                    double slow() {
                        while (never.getCount() > 0) {
                            Thread.onSpinWait();
                        }
                        return 1;
                    }
                },
                state(within(SHORT)),
                saying("4"));
        assertUnscored(state);
        assertThat(state.outcome()).isEqualTo(Outcome.completed("stop"));
        assertThat(state.trajectory()).hasSize(1);
        assertThat(workers.abandoned()).isEqualTo(1);
    }

    @Test
    void aTrajectoryWhoseTimeIsUpBeforeItIsScoredIsUnscored() throws Exception {
        State state = rollOut(
                new Slow() {
                    @Override
                    boolean stop(State running) {
                        return false;
                    }

                    @Override
                    protected List<Message> finalEnvResponse(State running) throws Exception {
                        never.await();
                        return List.of();
                    }
                },
                state(within(SHORT)),
                saying("4"));
        assertThat(state.outcome()).isEqualTo(Outcome.truncated("timeout"));
        assertUnscored(state);
    }

    @Test
    void aStepThatIsLeftBehindLeavesItsTrajectoryUnscored() throws Exception {
        State state = rollOut(
                new Slow() {
                    @Override
                    boolean stop(State running) {
                        return false;
                    }

                    @Override
                    protected List<Message> finalEnvResponse(State running) {
                        while (never.getCount() > 0) {
                            Thread.onSpinWait();
                        }
                        return List.of();
                    }
                },
                state(within(SHORT)),
                saying("4"));
        assertThat(state.outcome()).isEqualTo(Outcome.truncated("timeout"));
        assertUnscored(state);
    }

    @Test
    void aTrajectoryWithoutAnyTurnOfTheModelHasNoScore() throws Exception {
        ScriptedModel silent = new ScriptedModel(request -> new CompletableFuture<>());
        assertThat(rollOut(new Slow(), state(within(Duration.ofMillis(200))), silent)
                        .score())
                .isNull();
    }
}
