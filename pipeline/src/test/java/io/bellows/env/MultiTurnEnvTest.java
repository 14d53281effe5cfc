package io.bellows.env;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bellows.text.Message;
import io.bellows.trajectory.Outcome;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The loop: what ends a trajectory, and what the record says of it. */
@SuppressWarnings({"UnusedMethod", "UnusedVariable", "InfiniteRecursion"}) // handlers are found by their annotations
class MultiTurnEnvTest extends EnvironmentTest {

    /** Answers every turn with "go on". */
    private static class Talk extends MultiTurnEnv {
        int answers;

        Talk() {}

        Talk(int turns) {
            maxTurns(turns);
        }

        @Override
        protected List<Message> envResponse(State state) throws Exception {
            answers++;
            return user("go on");
        }
    }

    @Test
    void aStopConditionThatTheEnvironmentsAnswerMakesTrueEndsBeforeAnotherModelCall() throws Exception {
        ScriptedModel model = saying("a", "b", "c", "d", "e");
        Talk environment = new Talk(5) {
            @Stop
            protected boolean solved(State state) {
                return answers == 1;
            }
        };
        State state = rollOut(environment, model);
        assertThat(model.requests).hasSize(1);
        assertThat(state.outcome()).isEqualTo(Outcome.completed("solved"));
    }

    @Test
    void theLimitOnTurnsTruncatesAndTheEnvironmentIsNotAskedAfterIt() throws Exception {
        Talk environment = new Talk(2);
        State state = rollOut(environment, saying("a", "b", "c"));
        assertThat(state.outcome()).isEqualTo(Outcome.truncated("max_turns_reached"));
        assertThat(environment.answers).isEqualTo(1);
        assertThat(state.completion()).extracting(Message::role).containsExactly("assistant", "user", "assistant");
    }

    @Test
    void finishingOnTheLastAllowedTurnIsNotRunningOut() throws Exception {
        Talk environment = new Talk(1) {
            @Stop
            protected boolean solved(State state) {
                return state.lastStep() != null;
            }
        };
        assertThat(rollOut(environment, saying("a")).outcome()).isEqualTo(Outcome.completed("solved"));
    }

    @Test
    void sampledIdsStayAndWhatIsPutInIsMasked() throws Exception {
        ScriptedModel model = saying("one", "two");
        State state = rollOut(new Talk(2), model);
        TrajectoryStep first = state.trajectory().get(0);
        TrajectoryStep second = state.trajectory().get(1);
        int[] secondPrompt = model.requests.get(1).promptIds();
        assertThat(secondPrompt)
                .isEqualTo(State.joined(List.of(first.contextIds(), first.completionIds(), second.contextIds())));
        assertThat(second.mask()).containsOnly(0, 1);
        assertThat(Arrays.stream(second.mask()).sum()).isEqualTo(second.completionIds().length);
        assertThat(second.segmentIndex()).isZero();
    }

    @Test
    void theTokenBudgetCountsWhatTheEnvironmentPutsIn() throws Exception {
        ScriptedModel roomy = saying("one", "two", "three");
        State whole = rollOut(new Talk(3), roomy);
        int used = whole.trajectory().get(0).completionIds().length
                + whole.trajectory().get(1).contextIds().length;

        ScriptedModel model = saying("one", "two", "three");
        State exact =
                rollOut(new Talk(3), state(new RolloutLimits(400, used, 2000, null, Duration.ofSeconds(1))), model);
        assertThat(exact.outcome()).isEqualTo(Outcome.truncated("max_response_length"));
        assertThat(model.requests).hasSize(1);
        assertThat(exact.trajectory()).hasSize(1); // the answer of the environment is in no ids

        State one = rollOut(
                new Talk(3),
                state(new RolloutLimits(400, used + 1, 2000, null, Duration.ofSeconds(1))),
                saying("one", "two"));
        assertThat(one.trajectory()).hasSize(2);
        assertThat(one.lastStep().completionIds()).hasSize(1);
        assertThat(one.outcome()).isEqualTo(Outcome.truncated("max_response_length"));
    }

    @Test
    void aTurnCutByLengthTruncatesTheTrajectory() throws Exception {
        State state = rollOut(
                new SingleTurnEnv(),
                state(new RolloutLimits(400, 3, 2000, null, Duration.ofSeconds(1))),
                saying("a b c d e f g"));
        assertThat(state.outcome()).isEqualTo(Outcome.truncated("max_response_length"));
        assertThat(state.lastStep().completionIds()).hasSize(3);
    }

    @Test
    void oneAnswerEndsASingleTurn() throws Exception {
        assertThat(rollOut(new SingleTurnEnv(), saying("4")).outcome()).isEqualTo(Outcome.completed("stop"));
    }

    @Test
    void aPromptThatIsTooLongAsksNoModelAndHasNoToken() throws Exception {
        ScriptedModel model = saying("a");
        State state = rollOut(new Talk(2), state(new RolloutLimits(3, 100, 200, null, Duration.ofSeconds(1))), model);
        assertThat(state.outcome()).isEqualTo(Outcome.truncated("prompt_too_long"));
        assertThat(model.requests).isEmpty();
        assertThat(state.trajectory()).isEmpty();
    }

    @Test
    void whatTheEnvironmentSaysLastIsRecordedAndNotSampledFrom() throws Exception {
        Talk environment = new Talk(5) {
            @Override
            protected List<Message> finalEnvResponse(State state) {
                return state.trajectory().size() == 2 ? user("right") : null;
            }
        };
        State state = rollOut(environment, saying("a", "b", "c"));
        assertThat(state.outcome()).isEqualTo(Outcome.completed("has_final_env_response"));
        assertThat(state.completion()).extracting(Message::content).containsExactly("a", "go on", "b", "right");
    }

    /** In verifiers a prompt that fills the context exactly makes a step without a token. */
    @Test
    void aPromptThatLeavesNoRoomForATokenAsksNoModel() throws Exception {
        int prompt = rollOut(new Talk(1), saying("a")).firstPromptIds().length;
        ScriptedModel model = saying("a b c");
        State full =
                rollOut(new Talk(2), state(new RolloutLimits(400, 100, prompt, null, Duration.ofSeconds(1))), model);
        assertThat(full.outcome()).isEqualTo(Outcome.truncated("max_response_length"));
        assertThat(full.trajectory()).isEmpty();
        assertThat(model.requests).isEmpty();
        State oneMore = rollOut(
                new Talk(2), state(new RolloutLimits(400, 100, prompt + 1, null, Duration.ofSeconds(1))), model);
        assertThat(oneMore.outcome()).isEqualTo(Outcome.truncated("max_response_length"));
        assertThat(oneMore.lastStep().completionIds()).hasSize(1);
    }

    /** In verifiers the completion is cut off by counting messages, and loses what was said where the prompt was rewritten. */
    @Test
    void theCompletionIsAllThatWasSaidAlsoWhereTheConversationIsRewritten() throws Exception {
        Talk environment = new Talk(2) {
            @Override
            protected List<Message> promptMessages(State state) {
                return state.trajectory().isEmpty() ? state.messages() : user("a summary");
            }
        };
        State state = rollOut(environment, saying("a", "b"));
        assertThat(state.completion()).extracting(Message::content).containsExactly("a", "go on", "b");
        assertThat(state.trajectory()).extracting(TrajectoryStep::segmentIndex).containsExactly(0, 1);
    }

    @Test
    void anEmptyLastWordEndsTheTrajectoryWithoutAMessage() throws Exception {
        Talk environment = new Talk(5) {
            @Override
            protected List<Message> finalEnvResponse(State state) {
                return List.of();
            }
        };
        State state = rollOut(environment, saying("a", "b"));
        assertThat(state.outcome()).isEqualTo(Outcome.completed("has_final_env_response"));
        assertThat(state.completion()).extracting(Message::content).containsExactly("a");
    }

    @Test
    void aTokenOfALongConversationIsStoredOnce() throws Exception {
        String[] texts = new String[50];
        Arrays.fill(texts, "again and again");
        ScriptedModel model = saying(texts);
        State state = rollOut(
                new Talk(texts.length), state(new RolloutLimits(400, 9000, 9000, null, Duration.ofSeconds(5))), model);
        int stored = state.trajectory().stream()
                .mapToInt(step -> step.contextIds().length + step.completionIds().length)
                .sum();
        int[] lastPrompt = model.requests.get(texts.length - 1).promptIds();
        assertThat(stored).isEqualTo(lastPrompt.length + state.lastStep().completionIds().length);
    }

    @Test
    void tokensSampledSoFarAreAtLeastTheLimit() throws Exception {
        Talk environment = new Talk(9);
        environment.maxTotalCompletionTokens(1);
        assertThat(rollOut(environment, saying("a", "b")).stopCondition())
                .isEqualTo("max_total_completion_tokens_reached");
    }

    @Test
    void theLimitOnTheEnvironmentsAnswersLetsTheModelHaveTheLastWord() throws Exception {
        Talk environment = new Talk();
        environment.maxEnvResponses(2);
        State state = rollOut(environment, saying("a", "b", "c", "d"));
        assertThat(state.trajectory()).hasSize(3);
        assertThat(state.envResponses()).isEqualTo(2);
    }

    // ---- failures

    @Test
    void anExceptionFailsTheTrajectoryAndSaysWhy() throws Exception {
        State state = rollOut(
                new Talk() {
                    @Override
                    protected List<Message> envResponse(State running) {
                        throw new EnvironmentException("sandbox", "it is gone", null);
                    }
                },
                saying("a"));
        assertThat(state.outcome()).isEqualTo(new Outcome(Outcome.Status.FAILED, "has_error", "sandbox", "it is gone"));
        assertThat(state.trajectory()).hasSize(1);
    }

    @Test
    void anErrorIsContainedLikeAnException() throws Exception {
        State state = rollOut(
                new Talk() {
                    @Override
                    protected void setupState(State running) {
                        throw new AssertionError("no");
                    }
                },
                saying("a"));
        assertThat(state.error()).isEqualTo(new Failure("environment", "java.lang.AssertionError: no"));
    }

    @Test
    void aStopConditionThatThrowsFailsTheTrajectory() throws Exception {
        State state = rollOut(
                new Talk() {
                    @Stop
                    protected boolean broken(State running) {
                        throw new IllegalArgumentException("bad");
                    }
                },
                saying("a"));
        assertThat(state.outcome().status()).isEqualTo(Outcome.Status.FAILED);
    }

    @Test
    void aTurnThatTheModelCannotCompleteFabricatesNoToken() throws Exception {
        ScriptedModel model =
                new ScriptedModel(request -> CompletableFuture.failedFuture(new ModelException("no logits", null)));
        State state = rollOut(new Talk(), model);
        assertThat(state.error()).isEqualTo(new Failure("generation", "no logits"));
        assertThat(state.trajectory()).isEmpty();
    }

    @Test
    void aModelThatIsGoneFailsTheRolloutAfterTheCleanup() {
        AtomicInteger cleaned = new AtomicInteger();
        ScriptedModel model =
                new ScriptedModel(request -> CompletableFuture.failedFuture(new IllegalStateException("closed")));
        MultiTurnEnv environment = new Talk() {
            @Cleanup
            protected void free(State state) {
                cleaned.incrementAndGet();
            }
        };
        assertThatThrownBy(() -> rollOut(environment, model)).hasRootCauseMessage("closed");
        assertThat(cleaned).hasValue(1);
    }

    // ---- time

    @Test
    void aTimeoutOfTheEnvironmentsOwnIsAnErrorAndNotTheDeadline() throws Exception {
        for (Exception own : List.of(new SocketTimeoutException("read timed out"), new TimeoutException())) {
            State state = rollOut(
                    new Talk() {
                        @Override
                        protected List<Message> envResponse(State running) throws Exception {
                            throw own;
                        }
                    },
                    saying("a"));
            assertThat(state.outcome().status()).isEqualTo(Outcome.Status.FAILED);
            assertThat(state.stopCondition()).isEqualTo("has_error");
        }
    }

    @Test
    void aStepThatSleepsIsInterruptedAtTheDeadlineAndItsTurnsAreKept() throws Exception {
        State state = rollOut(
                new Talk() {
                    @Override
                    protected List<Message> envResponse(State running) throws Exception {
                        Thread.sleep(60_000);
                        return user("late");
                    }
                },
                state(within(Duration.ofMillis(300))),
                saying("a"));
        assertThat(state.outcome()).isEqualTo(Outcome.truncated("timeout"));
        assertThat(state.trajectory()).hasSize(1);
        assertThat(workers.abandoned()).isZero();
    }

    @Test
    void aStepThatIgnoresItsInterruptionIsAbandonedAndCanChangeNothingAnyMore() throws Exception {
        CountDownLatch released = new CountDownLatch(1);
        CompletableFuture<Throwable> late = new CompletableFuture<>();
        State state = state(within(Duration.ofMillis(200)));
        Talk environment = new Talk() {
            @Override
            protected List<Message> envResponse(State running) {
                while (released.getCount() > 0) {
                    try {
                        released.await();
                    } catch (InterruptedException e) {
                        // on purpose
                    }
                }
                try {
                    running.put("late", 1);
                    late.complete(null);
                } catch (IllegalStateException e) {
                    late.complete(e);
                }
                return user("late");
            }
        };
        rollOut(environment, state, saying("a"));
        assertThat(state.outcome()).isEqualTo(Outcome.truncated("timeout"));
        assertThat(state.metrics()).containsEntry("abandoned", 1.0);
        assertThat(workers.abandoned()).isEqualTo(1);
        released.countDown();
        assertThat(late.get(10, TimeUnit.SECONDS)).hasMessageContaining("Cannot change the state");
    }

    @Test
    void aModelThatDoesNotAnswerInTimeTruncates() throws Exception {
        ScriptedModel model = new ScriptedModel(request -> new CompletableFuture<>());
        State state = rollOut(new Talk(), state(within(Duration.ofMillis(200))), model);
        assertThat(state.outcome()).isEqualTo(Outcome.truncated("timeout"));
        assertThat(state.trajectory()).isEmpty();
    }

    @Test
    void aTurnThatIsCutOffByTheDeadlineKeepsItsTokensWithAMaskAndALogProbEach() throws Exception {
        ScriptedModel model = new ScriptedModel(request -> CompletableFuture.completedFuture(
                ScriptedModel.turn(chat.tokenizer(), chat.tokenizer().encodeContent("hello"), ModelTurn.Finish.ABORT)));
        State state = rollOut(new Talk(), model);
        assertThat(state.outcome()).isEqualTo(Outcome.truncated("timeout"));
        TrajectoryStep step = state.lastStep();
        int sampled = chat.tokenizer().encodeContent("hello").length;
        assertThat(step.completionIds()).hasSize(sampled);
        assertThat(Arrays.stream(step.mask()).sum()).isEqualTo(sampled);
        assertThat(step.logProbs()).hasSize(sampled);
    }

    // ---- setup and cleanup

    @Test
    void cleanupRunsOnceForEverySetupOnEveryWayOut() throws Exception {
        AtomicInteger setups = new AtomicInteger();
        List<String> cleanups = new ArrayList<>();
        for (String fault : List.of("none", "setup", "answer", "hang", "model")) {
            MultiTurnEnv environment = new Talk(2) {
                @Setup
                protected void begin() {
                    setups.incrementAndGet();
                }

                @Override
                protected void setupState(State state) throws Exception {
                    fault("setup");
                }

                @Override
                protected List<Message> envResponse(State state) throws Exception {
                    fault("answer");
                    if (fault.equals("hang")) {
                        Thread.sleep(60_000);
                    }
                    return user("go on");
                }

                private void fault(String place) throws Exception {
                    if (fault.equals(place)) {
                        throw new Exception(place);
                    }
                }

                @Cleanup
                protected void free() {
                    cleanups.add(fault);
                }

                @Cleanup(priority = 1)
                protected void broken() {
                    throw new IllegalStateException("the others run all the same");
                }
            };
            ScriptedModel model = fault.equals("model")
                    ? new ScriptedModel(request -> CompletableFuture.failedFuture(new ModelException("x", null)))
                    : saying("a", "b");
            State state = rollOut(environment, state(within(Duration.ofMillis(500))), model);
            assertThat(state.metrics()).containsEntry("cleanup_failures", 1.0);
            assertThat(model.left).hasValue(1);
        }
        assertThat(cleanups).containsExactly("none", "setup", "answer", "hang", "model");
        assertThat(setups).hasValue(cleanups.size());
    }

    @Test
    void aCleanupThatHangsIsCutOffByItsOwnBudget() throws Exception {
        MultiTurnEnv environment = new Talk(1) {
            @Cleanup
            protected void free() throws InterruptedException {
                Thread.sleep(60_000);
            }
        };
        State state = rollOut(environment, state(within(Duration.ofSeconds(20))), saying("a"));
        assertThat(state.metrics()).containsEntry("cleanup_failures", 1.0);
        assertThat(state.outcome()).isEqualTo(Outcome.truncated("max_turns_reached"));
    }

    @Test
    void cancellingDuringSetupCleansUp() throws Exception {
        CountDownLatch inSetup = new CountDownLatch(1);
        AtomicInteger cleaned = new AtomicInteger();
        MultiTurnEnv environment = new Talk(1) {
            @Override
            protected void setupState(State state) throws Exception {
                inSetup.countDown();
                Thread.sleep(60_000);
            }

            @Cleanup
            protected void free() {
                cleaned.incrementAndGet();
            }
        };
        CompletableFuture<State> rollout = environment.rollout(state(ROOMY), saying("a"), workers);
        inSetup.await();
        workers.cancel();
        rollout.get(10, TimeUnit.SECONDS);
        assertThat(cleaned).hasValue(1);
    }

    // ---- state

    @Test
    void theRowsFieldsAndTheLoopsFieldsCannotBeSet() {
        State state = state(ROOMY);
        state.put("clues", 3);
        assertThat(state.get("clues", Integer.class)).isEqualTo(3);
        assertThat(state.get("answer")).isEqualTo("4");
        for (String name :
                List.of("answer", "prompt", "info", "example_id", "stop_condition", "is_completed", "error")) {
            assertThatThrownBy(() -> state.put(name, 1)).hasMessageContaining("Invalid state field '" + name + "'");
        }
    }

    @Test
    void rewardsOfStepsAddUpOnTheTurnTheyBelongTo() throws Exception {
        Talk environment = new Talk(2) {
            @Override
            protected List<Message> envResponse(State state) {
                state.addStepReward(0.5);
                state.addStepReward(0.25);
                return user("go on");
            }
        };
        State state = rollOut(environment, saying("a", "b"));
        assertThat(state.trajectory()).extracting(TrajectoryStep::reward).containsExactly(0.75, null);
    }

    @Test
    void theRewardsOfAllTurnsCountAndNotTheLastAlone() throws Exception {
        Talk environment = new Talk(2) {
            @Override
            protected List<Message> envResponse(State state) {
                state.addStepReward(1);
                return user("go on");
            }

            @Stop
            boolean ended(State state) {
                return state.trajectory().size() == 2;
            }

            @Reward
            double turns(State state) {
                return state.totalStepReward();
            }
        };
        State state = rollOut(environment, saying("a", "b"));
        assertThat(state.trajectory()).extracting(TrajectoryStep::reward).containsExactly(1.0, null);
        assertThat(state.score().score().reward()).isEqualTo(1);
    }
}
