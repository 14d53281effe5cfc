package io.bellows.env;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.offset;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.bellows.reward.RewardOutcome.Status;
import io.bellows.reward.RewardScore;
import io.bellows.trajectory.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Rewards of an environment that compare the trajectories of a prompt. */
@SuppressWarnings("UnusedMethod") // found by their annotations
class GroupRewardTest extends EnvironmentTest {

    /** Fails for the sample 1, rewards the right answer, and compares as it is told. */
    private static final class Compared extends SingleTurnEnv {
        private final Function<List<State>, List<Double>> comparison;

        Compared(Function<List<State>, List<Double>> comparison) {
            this.comparison = comparison;
        }

        @Override
        protected void setupState(State state) {
            if (state.id().sampleIndex() == 1) {
                throw new IllegalStateException("broken");
            }
        }

        @Reward(weight = 0.5)
        double right(String response, String answer) {
            return response.equals(answer) ? 1 : 0;
        }

        @GroupReward(weight = 2)
        List<Double> rarity(List<State> states) {
            return comparison.apply(states);
        }
    }

    private static double share(List<State> states, State one) {
        String response = Rubric.response(one.completion());
        return states.stream()
                        .filter(other -> Rubric.response(other.completion()).equals(response))
                        .count()
                / (double) states.size();
    }

    private List<State> rollOut(RolloutLimits limits, Function<List<State>, List<Double>> comparison, String... answers)
            throws Exception {
        ScriptedModel model = new ScriptedModel(request -> CompletableFuture.completedFuture(ScriptedModel.turn(
                chat.tokenizer(), request, answers[request.trajectory().sampleIndex()])));
        GroupRollout group = new GroupRollout(answers.length, model, workers);
        List<CompletableFuture<State>> rollouts = new ArrayList<>();
        for (int sample = answers.length - 1; sample >= 0; sample--) {
            State state = state(limits, sample, example(JsonNodeFactory.instance.objectNode()));
            rollouts.add(0, group.rollout(new Compared(comparison), state, () -> {}));
        }
        List<State> states = new ArrayList<>();
        for (CompletableFuture<State> rollout : rollouts) {
            states.add(rollout.get(30, TimeUnit.SECONDS));
        }
        return states;
    }

    private static RewardScore score(State state) {
        return state.score().score();
    }

    @Test
    void theyAreAddedToTheOwnRewardsOfThoseThatDidNotFail() throws Exception {
        List<Integer> seen = Collections.synchronizedList(new ArrayList<>());
        List<State> states = rollOut(
                ROOMY,
                group -> {
                    group.forEach(state -> seen.add(state.id().sampleIndex()));
                    return group.stream().map(state -> 1 - share(group, state)).toList();
                },
                "4",
                "4",
                "5",
                "4");

        assertThat(seen).containsExactly(0, 2, 3);
        assertThat(score(states.get(0)).reward()).isCloseTo(0.5 + 2 / 3.0, offset(1e-12));
        assertThat(score(states.get(2)).reward()).isCloseTo(4 / 3.0, offset(1e-12));
        assertThat(score(states.get(2)).components())
                .containsEntry("right", 0.0)
                .containsKey("rarity");
        assertThat(score(states.get(3)).status()).isEqualTo(Status.SCORED);
        assertThat(states.get(1).error()).isNotNull();
        assertThat(states.get(1).score()).isNull();
    }

    @Test
    void oneThatFailsOrCannotSayIsNoZero() throws Exception {
        for (State state : rollOut(
                ROOMY,
                group -> {
                    throw new IllegalStateException("no connection");
                },
                "4")) {
            assertThat(score(state).reward()).isNull();
            assertThat(score(state).status()).isEqualTo(Status.FAILED);
            assertThat(score(state).message()).contains("rarity: ", "no connection");
            assertThat(score(state).components()).containsEntry("right", 1.0).containsEntry("rarity", null);
        }
        assertThat(score(rollOut(ROOMY, group -> List.of(), "4").get(0)).message())
                .contains("expected a list of 1 numbers");
        List<State> states = rollOut(ROOMY, group -> Arrays.asList(null, Double.NaN), "4", "broken", "4");
        assertThat(score(states.get(0)).status()).isEqualTo(Status.UNSCORED);
        assertThat(score(states.get(2)).status()).isEqualTo(Status.FAILED);
        assertThat(score(states.get(2)).message()).contains("Invalid reward NaN");
    }

    @Test
    void oneThatIgnoresItsTimeLimitIsLeftBehindAndChangesNothingAnyMore() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        CountDownLatch over = new CountDownLatch(1);
        List<State> states = rollOut(
                within(Duration.ofSeconds(4)),
                group -> {
                    while (release.getCount() > 0) {
                        Thread.onSpinWait();
                    }
                    over.countDown();
                    return List.of(1.0);
                },
                "4");
        assertThat(score(states.get(0)).message()).contains("rarity: it did not end within rollout.agent.timeout_s");
        assertThat(states.get(0).outcome()).isEqualTo(Outcome.completed("stop"));
        assertThat(workers.abandoned()).isEqualTo(1);
        release.countDown();
        assertThat(over.await(30, TimeUnit.SECONDS)).isTrue();
        assertUnscored(states.get(0));
    }

    private static void assertUnscored(State state) {
        assertThat(score(state).status()).isEqualTo(Status.UNSCORED);
        assertThat(score(state).reward()).isNull();
        assertThat(score(state).components()).containsEntry("right", 1.0).containsEntry("rarity", null);
    }

    @Test
    void oneThatIsInterruptedByItsTimeLimitHasNotFailedItCannotSay() throws Exception {
        List<State> states = rollOut(
                within(Duration.ofSeconds(2)),
                group -> {
                    try {
                        new CountDownLatch(1).await();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                    return List.of();
                },
                "4");
        assertUnscored(states.get(0));
        assertThat(workers.abandoned()).isZero();
    }

    @Test
    void withoutAnyATrajectoryDoesNotWaitForOthers() throws Exception {
        GroupRollout group = new GroupRollout(2, saying("4"), workers);
        State first =
                group.rollout(new SingleTurnEnv() {}, state(ROOMY), () -> {}).get(30, TimeUnit.SECONDS);
        assertThat(first.isCompleted()).isTrue();
    }

    @Test
    void aModelThatIsGoneEndsTheWaiting() throws Exception {
        CompletableFuture<ModelTurn> never = new CompletableFuture<>();
        ScriptedModel model = new ScriptedModel(request -> request.trajectory().sampleIndex() == 0
                ? CompletableFuture.completedFuture(ScriptedModel.turn(chat.tokenizer(), request, "4"))
                : never);
        GroupRollout group = new GroupRollout(2, model, workers);
        Function<List<State>, List<Double>> none = states -> List.of();
        AtomicInteger ended = new AtomicInteger();
        CompletableFuture<State> waiting = group.rollout(new Compared(none), state(ROOMY), ended::incrementAndGet);
        State other = state(ROOMY, 2, example(JsonNodeFactory.instance.objectNode()));
        CompletableFuture<State> lost = group.rollout(new Compared(none), other, ended::incrementAndGet);
        assertThat(waiting).isNotDone();
        never.completeExceptionally(new IllegalStateException("the engine is closed"));
        assertThatThrownBy(() -> lost.get(30, TimeUnit.SECONDS)).hasRootCauseMessage("the engine is closed");
        assertThatThrownBy(() -> waiting.get(30, TimeUnit.SECONDS)).hasRootCauseMessage("the engine is closed");
        assertThat(ended).hasValue(2);
    }

    @Test
    void anotherSignatureIsRefused() {
        class Wrong {
            @GroupReward
            double rarity(List<State> states) {
                return states.size();
            }
        }
        assertThatThrownBy(() -> Rubric.of(new Wrong()))
                .hasMessageContaining("Invalid @GroupReward")
                .hasMessageContaining("it takes a List<State> and nothing else, and returns a List<Double>");
    }
}
