package io.bellows.env;

import com.fasterxml.jackson.databind.JsonNode;
import io.bellows.env.Handlers.Handler;
import io.bellows.env.Stop.Ending;
import io.bellows.text.Message;
import io.bellows.text.jinja.TemplateException;
import io.bellows.trajectory.Score;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/**
 * An environment in which a model and its surroundings take turns until a {@link Stop} condition is true. Each trajectory has an instance
 * of its own.
 *
 * <p>A subclass says what the environment answers ({@link #envResponse}) and, where it needs to, how a trajectory is set up
 * ({@link #setupState}), what the model is shown ({@link #promptMessages}) and what comes last ({@link #finalEnvResponse}). What these throw
 * is an error of the one trajectory. They should end when their thread is interrupted: that is how a deadline reaches them.
 */
public abstract class MultiTurnEnv {

    private static final int LONGEST_MESSAGE = 2000;

    private volatile Rubric groupRubric;
    private int maxTurns = -1;
    private int maxEnvResponses = -1;
    private int maxTotalCompletionTokens = -1;

    // ---- what a subclass may say

    /** Prepares a trajectory; runs after the {@link Setup} methods. */
    protected void setupState(State state) throws Exception {}

    /** The conversation that the model answers next: as a rule all messages so far. */
    protected List<Message> promptMessages(State state) throws Exception {
        return state.messages();
    }

    /** The function schemas that the model is shown, a JSON array, or null. */
    protected JsonNode tools(State state) throws Exception {
        return state.example().tools();
    }

    /** The model's turn as a message. */
    protected Message completionMessage(State state, ModelTurn turn) throws Exception {
        return Message.of("assistant", turn.text());
    }

    /** What the environment answers to the model's last turn: messages of any role but assistant, at least one. */
    protected abstract List<Message> envResponse(State state) throws Exception;

    /**
     * What the environment says to the model's last turn if the trajectory ends with it, else null; asked before {@link #envResponse}. The
     * model does not see it. {@link State#finalEnvResponse(List)} does the same from anywhere.
     */
    protected List<Message> finalEnvResponse(State state) throws Exception {
        return null;
    }

    /** Sets the model's most turns; 0 or less for no limit, as at first. */
    protected final void maxTurns(int turns) {
        maxTurns = turns;
    }

    /** Sets the environment's most answers; 0 or less for no limit, as at first. */
    protected final void maxEnvResponses(int answers) {
        maxEnvResponses = answers;
    }

    /** Sets the most tokens that the model samples; 0 or less for no limit, as at first. The last turn may go beyond it. */
    protected final void maxTotalCompletionTokens(int tokens) {
        maxTotalCompletionTokens = tokens;
    }

    // ---- when it ends

    /** A step threw, or the model could not complete a turn. */
    @Stop(value = Ending.RAN_OUT, priority = 100)
    protected boolean hasError(State state) {
        return state.error() != null;
    }

    /** The time is up. */
    @Stop(value = Ending.RAN_OUT, priority = 90)
    protected boolean timeout(State state) {
        return state.isTimedOut() || state.remainingNanos() <= 0;
    }

    /** The environment has said its last word. */
    @Stop
    protected boolean hasFinalEnvResponse(State state) {
        return state.finalEnvResponse() != null;
    }

    /** The prompt is longer than {@code data.max_prompt_length}; no token was sampled. */
    @Stop(value = Ending.RAN_OUT, priority = -10)
    protected boolean promptTooLong(State state) {
        return state.isPromptTooLong();
    }

    /** The tokens of {@code data.max_response_length} are used up, or would be by the environment's answer. */
    @Stop(value = Ending.RAN_OUT, priority = -10)
    protected boolean maxResponseLength(State state) {
        return state.isBudgetSpent();
    }

    /** The model has had its turns, or the environment its answers. */
    @Stop(value = Ending.RAN_OUT, priority = -10)
    protected boolean maxTurnsReached(State state) {
        return (maxTurns > 0 && state.trajectory().size() >= maxTurns)
                || (maxEnvResponses > 0 && state.envResponses() >= maxEnvResponses && isModelsLastTurn(state));
    }

    /** The model answers the environment's last answer, and then it is over. */
    private static boolean isModelsLastTurn(State state) {
        return state.trajectory().size() > state.envResponses();
    }

    /** The model has sampled its tokens. */
    @Stop(value = Ending.RAN_OUT, priority = -10)
    protected boolean maxTotalCompletionTokensReached(State state) {
        return maxTotalCompletionTokens > 0 && state.completionTokens() >= maxTotalCompletionTokens;
    }

    // ---- the loop

    /**
     * Rolls a trajectory out: setup, then the model's turn and the environment's answer in turns, with the stop conditions after each, then
     * rewards, then cleanup. Every way ends with the cleanup.
     *
     * @param state a trajectory that has not begun
     * @param model answers
     * @param workers run the environment's code
     * @return the state once all is done; fails only if the model is of no use any more
     */
    @SuppressWarnings("FutureReturnValueIgnored") // the inner future is composed at the end
    public final CompletableFuture<State> rollout(State state, ModelClient model, Workers workers) {
        return step(state, workers, this::begin)
                .thenCompose(begun -> turns(state, model, workers))
                .whenComplete((ended, failure) -> model.leave(state.id()))
                .thenCompose(ended -> scored(state, workers))
                .handle((scored, failure) -> cleanUp(state, workers).thenApply(clean -> {
                    if (failure != null) {
                        throw new CompletionException(cause(failure));
                    }
                    return state;
                }))
                .thenCompose(cleaned -> cleaned);
    }

    private CompletableFuture<Void> turns(State state, ModelClient model, Workers workers) {
        if (state.isCompleted()) {
            return done();
        }
        return workers.await(model.generate(state.request()), state.remainingNanos())
                .handle((turn, failure) -> received(state, turn, failure))
                .thenCompose(turn -> step(state, workers, running -> take(running, turn)))
                .thenCompose(taken -> turns(state, model, workers));
    }

    private void begin(State state) throws Exception {
        state.begin();
        for (Handler setup : Handlers.of(getClass(), Setup.class)) {
            setup.callWith(this, state);
        }
        setupState(state);
        state.ask(promptMessages(state), tools(state));
    }

    /** The turn, or null where there is none: then the state says why. */
    private static ModelTurn received(State state, ModelTurn turn, Throwable failure) {
        if (failure == null) {
            noteRetries(state, turn == null ? 0 : turn.retries());
            if (turn == null || turn.finish() == ModelTurn.Finish.ABORT) {
                state.timeOut();
            }
            return turn == null || turn.ids().length == 0 ? null : turn;
        }
        Throwable cause = cause(failure);
        if (cause instanceof ModelException known) {
            noteRetries(state, known.retries());
            state.fail("generation", text(known.getMessage()));
        } else if (cause instanceof CancellationException) {
            state.timeOut();
        } else {
            throw new CompletionException(cause);
        }
        return null;
    }

    private static void noteRetries(State state, int retries) {
        if (retries > 0) {
            state.addMetric("model_retries", retries);
        }
    }

    private void take(State state, ModelTurn turn) throws Exception {
        if (turn == null) {
            return;
        }
        state.take(turn, completionMessage(state, turn));
        if (checkStops(state)) {
            return;
        }
        long start = System.nanoTime();
        List<Message> last = finalEnvResponse(state);
        if (last == null) {
            List<Message> response = envResponse(state);
            if (response == null || response.isEmpty()) {
                throw new IllegalStateException("Cannot go on: " + getClass().getName()
                        + ".envResponse gave no message; end the trajectory by finalEnvResponse or a stop condition");
            }
            state.answered(response, (System.nanoTime() - start) / 1_000_000);
        } else {
            state.finalEnvResponse(last);
        }
        if (!checkStops(state)) {
            state.ask(promptMessages(state), tools(state));
        }
    }

    /** Ends the trajectory by the first condition that is true. */
    private boolean checkStops(State state) throws Exception {
        for (Handler stop : Handlers.of(getClass(), Stop.class)) {
            if ((boolean) stop.callWith(this, state)) {
                end(state, stop.name(), ((Stop) stop.annotation()).value());
                return true;
            }
        }
        if (state.askedToStop() != null) {
            end(state, state.askedToStop(), Ending.FINISHED);
            return true;
        }
        return false;
    }

    private static void end(State state, String condition, Ending ending) {
        state.end(condition, ending);
        if (state.finalEnvResponse() != null) {
            state.addFinalResponse();
        }
    }

    // ---- rewards

    /** What gives the rewards: as a rule the {@link Reward}, {@link GroupReward} and {@link Metric} methods of this class. */
    protected Rubric rubric() {
        return Rubric.of(this);
    }

    /** What compares the trajectory with others of its prompt, once it was scored by itself; null for nothing. */
    final Rubric groupRubric() {
        return groupRubric;
    }

    /** A failed trajectory, and one in which nothing was sampled, stays without a score; one whose time is up is unscored. */
    private CompletableFuture<Void> scored(State state, Workers workers) {
        if (state.error() != null || state.trajectory().isEmpty()) {
            return done();
        }
        Rubric rubric;
        try {
            rubric = rubric();
        } catch (RuntimeException e) {
            state.fail(kind(e), text(e.toString()));
            return done();
        }
        if (rubric.isEmpty()) {
            return done();
        }
        state.unscored(rubric.tooLate()); // what stays if there is no time: nobody is asked in the rubric's place
        return step(state, workers, running -> {
            long start = System.nanoTime();
            Score score = rubric.score(running);
            running.score(score);
            groupRubric = rubric.comparesTrajectories() ? rubric : null;
            running.addTiming("scoring", (System.nanoTime() - start) / 1e9);
        });
    }

    // ---- steps

    /** A piece of the loop that runs code of the environment. */
    private interface Piece {
        void run(State state) throws Exception;
    }

    private CompletableFuture<Void> step(State state, Workers workers, Piece piece) {
        if (state.isAbandoned()) {
            return done();
        }
        return workers.run(() -> runContained(state, piece), state.remainingNanos())
                .thenAccept(ending -> {
                    if (ending == Workers.Ending.ABANDONED) {
                        state.abandon();
                    } else if (ending == Workers.Ending.NOT_BEGUN) {
                        runContained(state, late -> late.timeOut());
                    }
                });
    }

    /** Whatever is thrown, an {@link Error} too, is an error of this trajectory; after the deadline it is the deadline's doing. */
    private void runContained(State state, Piece piece) {
        try {
            contain(state, piece);
            if (!state.isCompleted()) {
                contain(state, this::checkStops);
            }
            if (!state.isCompleted()) {
                endUnchecked(state); // a stop condition threw
            }
        } catch (IllegalStateException abandoned) {
            // The state takes nothing more: the trajectory has ended without this step.
        }
    }

    private static void contain(State state, Piece piece) {
        try {
            piece.run(state);
        } catch (Throwable e) {
            if (state.remainingNanos() <= 0) {
                state.timeOut();
            } else {
                state.fail(kind(e), text(e instanceof EnvironmentException ? e.getMessage() : e.toString()));
            }
        }
    }

    private static void endUnchecked(State state) {
        if (state.error() != null || state.isTimedOut()) {
            state.end(state.error() != null ? "has_error" : "timeout", Ending.RAN_OUT);
        }
    }

    private static String kind(Throwable e) {
        if (e instanceof EnvironmentException known) {
            return known.kind();
        }
        return e instanceof TemplateException ? "template" : "environment";
    }

    static String text(String message) {
        String text = String.valueOf(message);
        return text.length() <= LONGEST_MESSAGE ? text : text.substring(0, LONGEST_MESSAGE) + "...";
    }

    private static Throwable cause(Throwable failure) {
        Throwable cause = failure;
        while ((cause instanceof CompletionException || cause instanceof ExecutionException)
                && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause;
    }

    private CompletableFuture<Void> cleanUp(State state, Workers workers) {
        CompletableFuture<Void> all = done();
        if (!state.hasBegun()) {
            return all; // there is nothing to clean up
        }
        for (Handler cleanup : Handlers.of(getClass(), Cleanup.class)) {
            all = all.thenCompose(before -> cleanUp(cleanup, state, workers));
        }
        return all;
    }

    private CompletableFuture<Void> cleanUp(Handler cleanup, State state, Workers workers) {
        boolean[] clean = {false};
        Runnable work = () -> {
            try {
                cleanup.callWith(this, state);
                clean[0] = true;
            } catch (Throwable e) {
                // Counted below; the others run all the same.
            }
        };
        return workers.runAlways(work, state.limits().cleanupTimeout().toNanos())
                .thenAccept(ending -> {
                    if (!clean[0]) {
                        state.noteCleanupFailure();
                    }
                });
    }

    private static CompletableFuture<Void> done() {
        return CompletableFuture.completedFuture(null);
    }
}
