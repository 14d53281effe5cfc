package io.bellows.env;

import io.bellows.trajectory.Score;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;

/**
 * The trajectories of one prompt. Each is rolled out by itself; where its environment has a {@link GroupReward} it ends when all of them have
 * ended and were compared, else at once.
 */
public final class GroupRollout {

    private final ModelClient model;
    private final Workers workers;
    private final CompletableFuture<Void> compared = new CompletableFuture<>();
    private final List<Member> ended = new ArrayList<>();
    private int running;

    /** A trajectory that has ended. */
    private record Member(MultiTurnEnv environment, State state) {

        /** Whether it was scored by a rubric that compares. */
        boolean isCompared() {
            return environment.groupRubric() != null && state.score() != null && !state.isAbandoned();
        }
    }

    /**
     * A group that nothing of was rolled out.
     *
     * @param members trajectories of the prompt that are compared, all of which are to be rolled out
     * @param model answers
     * @param workers run the environment's code
     */
    public GroupRollout(int members, ModelClient model, Workers workers) {
        this.running = members;
        this.model = model;
        this.workers = workers;
    }

    /**
     * Rolls one of the trajectories out.
     *
     * @param environment an environment for this trajectory alone
     * @param state a trajectory that has not begun
     * @param ended is told when the trajectory asks the model and its environment nothing more, though it may wait for others of its prompt
     * @return the state once all is done; fails only if the model is of no use any more
     */
    @SuppressWarnings("FutureReturnValueIgnored") // the inner future is composed at the end
    public CompletableFuture<State> rollout(MultiTurnEnv environment, State state, Runnable ended) {
        return environment
                .rollout(state, model, workers)
                .whenComplete((done, failure) -> ended.run())
                .handle((done, failure) -> {
                    if (failure != null) {
                        compared.completeExceptionally(failure); // the others need not wait
                        return CompletableFuture.<State>failedFuture(failure);
                    }
                    return end(new Member(environment, state));
                })
                .thenCompose(member -> member);
    }

    private CompletableFuture<State> end(Member member) {
        List<Member> all = null;
        synchronized (this) {
            ended.add(member);
            if (--running == 0) {
                all = ended.stream()
                        .filter(Member::isCompared)
                        .sorted(Comparator.comparingInt(
                                (Member one) -> one.state().id().sampleIndex()))
                        .toList();
            }
        }
        if (all != null) {
            compare(all);
        }
        return member.isCompared()
                ? compared.thenApply(done -> member.state())
                : CompletableFuture.completedFuture(member.state());
    }

    /** Scores are changed here, once the rubric is done, so that one that ignores its time limit cannot change them later. */
    @SuppressWarnings("FutureReturnValueIgnored") // its end is that of compared
    private void compare(List<Member> members) {
        if (members.isEmpty()) {
            compared.complete(null);
            return;
        }
        Rubric rubric = members.get(0).environment().groupRubric();
        List<State> states = members.stream().map(Member::state).toList();
        AtomicReference<List<Score>> scores = new AtomicReference<>();
        long limit = states.get(0).timeLimitNanos();
        long start = System.nanoTime();
        BooleanSupplier isLate = () -> System.nanoTime() - start >= limit;
        workers.run(() -> scores.set(rubric.scoreGroup(states, isLate)), limit)
                .thenAccept(ending -> take(ending, rubric, states, scores.get()))
                .whenComplete((done, failure) -> {
                    if (failure == null) {
                        compared.complete(null);
                    } else {
                        compared.completeExceptionally(failure);
                    }
                });
    }

    private static void take(Workers.Ending ending, Rubric rubric, List<State> states, List<Score> given) {
        boolean ended = ending == Workers.Ending.DONE;
        List<Score> scores = given;
        if (!ended) {
            scores = rubric.groupTooLate(states);
        } else if (given == null) { // an exception that fails itself when it is asked what happened
            scores = rubric.groupFailed(states, "the rewards of the group failed and cannot say why");
        }
        for (int i = 0; i < states.size(); i++) {
            states.get(i).score(scores.get(i));
            if (!ended) {
                states.get(i).seal();
            }
        }
    }
}
