package io.bellows.stage;

import io.bellows.engine.Generation;
import io.bellows.engine.GenerationException;
import io.bellows.engine.GenerationRequest;
import io.bellows.engine.InferenceEngine;
import io.bellows.engine.SamplingParams;
import io.bellows.env.ModelException;
import io.bellows.env.ModelRequest;
import io.bellows.env.ModelRequest.TrajectoryId;
import io.bellows.env.ModelTurn;
import io.bellows.text.ChatTokenizer;
import io.bellows.text.Tokenizer;
import io.bellows.trajectory.TrajectoryKey;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The engine of this executor as the model of environments.
 *
 * <p>Trajectories that belong together meet before they ask: the samples of a group before their first turn, so that they share one reading
 * of the prompt; and with an engine that is to be bit-exact all trajectories of the task before every turn, so that what runs together does
 * not depend on time. Those that have ended are not waited for.
 */
final class EngineModel implements TaskModel {

    private final ChatTokenizer text;
    private final InferenceEngine engine;
    private final Tokenizer tokenizer;
    private final RolloutSampling sampling;
    private final int iteration;
    private final int[] stopIds;
    private final Map<TrajectoryId, Meeting> meetings = new ConcurrentHashMap<>();

    EngineModel(InferenceEngine engine, ChatTokenizer text, RolloutSampling sampling, int iteration) {
        this.text = text;
        this.engine = engine;
        this.tokenizer = text.tokenizer();
        this.sampling = sampling;
        this.iteration = iteration;
        this.stopIds = tokenizer.stopIds();
    }

    @Override
    public void meet(List<TrajectoryId> trajectories, Together together) {
        Meeting meeting = new Meeting(trajectories.size(), together);
        trajectories.forEach(trajectory -> meetings.put(trajectory, meeting));
    }

    @Override
    public ChatTokenizer text() {
        return text;
    }

    @Override
    public Call generate(ModelRequest request) {
        Meeting meeting = meetings.get(request.trajectory());
        EngineCall call = new EngineCall(request, meeting);
        meeting.ask(call);
        return call;
    }

    @Override
    public void leave(TrajectoryId trajectory) {
        meetings.get(trajectory).leave();
    }

    /** Requests that wait until all have asked that still can. */
    private final class Meeting {
        private final Together together;
        private final List<EngineCall> asked = new ArrayList<>();
        private int members;
        private boolean over;

        Meeting(int members, Together together) {
            this.members = members;
            this.together = together;
        }

        void ask(EngineCall call) {
            List<EngineCall> batch;
            synchronized (this) {
                asked.add(call);
                batch = complete();
            }
            submit(batch);
        }

        void leave() {
            List<EngineCall> batch;
            synchronized (this) {
                members--;
                batch = complete();
            }
            submit(batch);
        }

        synchronized void withdraw(EngineCall call) {
            asked.remove(call);
        }

        private List<EngineCall> complete() {
            if (!over && asked.size() < members) {
                return List.of();
            }
            over = together == Together.FIRST_TURN;
            List<EngineCall> batch = List.copyOf(asked);
            asked.clear();
            return batch;
        }
    }

    /** One request, on its way to the engine or in it. */
    private final class EngineCall implements Call {
        private final ModelRequest request;
        private final Meeting meeting;
        private final CompletableFuture<ModelTurn> turn = new CompletableFuture<>();
        private CompletableFuture<Generation> generation;
        private boolean aborted;

        EngineCall(ModelRequest request, Meeting meeting) {
            this.request = request;
            this.meeting = meeting;
        }

        boolean isBaseline() {
            return request.trajectory().sampleIndex() == TrajectoryKey.GREEDY_BASELINE;
        }

        SamplingParams params() {
            return (isBaseline() ? sampling.greedy() : sampling).params(stopIds, request.maxTokens());
        }

        long seed() {
            return SampleSeed.of(sampling.seed(), iteration, request);
        }

        /** Whether both can be samples of one request. */
        boolean joins(EngineCall other) {
            return request.trajectory().position() == other.request.trajectory().position()
                    && isBaseline() == other.isBaseline()
                    && request.maxTokens() == other.request.maxTokens()
                    && Arrays.equals(request.promptIds(), other.request.promptIds());
        }

        @SuppressWarnings("FutureReturnValueIgnored") // failures go on to the turn
        void submitted(CompletableFuture<Generation> future) {
            synchronized (this) {
                generation = future;
                if (aborted) {
                    engine.abort(future);
                }
            }
            future.whenComplete(this::ended);
        }

        private void ended(Generation ended, Throwable failure) {
            if (failure == null) {
                turn.complete(modelTurn(ended));
                return;
            }
            Throwable cause =
                    failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
            turn.completeExceptionally(
                    cause instanceof GenerationException ? new ModelException(cause.getMessage(), cause) : cause);
        }

        @Override
        public CompletableFuture<ModelTurn> turn() {
            return turn;
        }

        @Override
        public void abort() {
            synchronized (this) {
                aborted = true;
                if (generation != null) {
                    engine.abort(generation);
                    return;
                }
            }
            meeting.withdraw(this);
            turn.cancel(false);
        }
    }

    private ModelTurn modelTurn(Generation generation) {
        ModelTurn.Finish finish = switch (generation.finishReason()) {
            case STOP -> ModelTurn.Finish.STOP;
            case LENGTH -> ModelTurn.Finish.LENGTH;
            case ABORTED -> ModelTurn.Finish.ABORT;
        };
        return new ModelTurn(
                generation.ids(),
                generation.logProbs(),
                ModelTurn.decoder(tokenizer, generation.ids()),
                finish,
                generation.weightsVersion(),
                generation.millis());
    }

    private static final Comparator<EngineCall> ORDER = Comparator.comparing(EngineCall::isBaseline)
            .thenComparingLong(call -> call.request.trajectory().position())
            .thenComparingInt(call -> call.request.trajectory().sampleIndex());

    /** Submits calls as one ordered batch; neighbours with one prompt share its reading. */
    private void submit(List<EngineCall> calls) {
        if (calls.isEmpty()) {
            return;
        }
        List<List<EngineCall>> groups = new ArrayList<>();
        calls.stream().sorted(ORDER).forEach(call -> {
            if (groups.isEmpty() || !groups.get(groups.size() - 1).get(0).joins(call)) {
                groups.add(new ArrayList<>());
            }
            groups.get(groups.size() - 1).add(call);
        });
        List<GenerationRequest> requests =
                groups.stream().map(EngineModel::request).toList();
        List<List<CompletableFuture<Generation>>> generations;
        try {
            generations = engine.submitAll(requests);
        } catch (RuntimeException e) {
            calls.forEach(call -> call.turn.completeExceptionally(e));
            return;
        }
        for (int i = 0; i < groups.size(); i++) {
            for (int j = 0; j < groups.get(i).size(); j++) {
                groups.get(i).get(j).submitted(generations.get(i).get(j));
            }
        }
    }

    private static GenerationRequest request(List<EngineCall> group) {
        long[] seeds = group.stream().mapToLong(EngineCall::seed).toArray();
        EngineCall first = group.get(0);
        return new GenerationRequest(first.request.promptIds(), first.params(), seeds);
    }
}
