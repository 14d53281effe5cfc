package io.bellows.stage;

import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.pmod;

import io.bellows.data.PromptSchema;
import io.bellows.engine.Generation;
import io.bellows.engine.GenerationException;
import io.bellows.engine.GenerationRequest;
import io.bellows.engine.InferenceEngine;
import io.bellows.resident.ExecutorHost;
import io.bellows.resident.ExecutorHost.Role;
import io.bellows.resident.ResidentModel;
import io.bellows.resident.ResidentSettings;
import io.bellows.resident.WeightsRef;
import io.bellows.stage.RolloutSampling.Baseline;
import io.bellows.text.ChatTokenizer;
import io.bellows.text.GenerationPrompt;
import io.bellows.text.Message;
import io.bellows.text.SpecialTokens;
import io.bellows.trajectory.Outcome;
import io.bellows.trajectory.Schemas;
import io.bellows.trajectory.Table;
import io.bellows.trajectory.Tokens;
import io.bellows.trajectory.Trajectory;
import io.bellows.trajectory.TrajectoryKey;
import io.bellows.trajectory.Turn;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.util.TaskCompletionListener;

/**
 * Prompts in, trajectories out: a narrow map on the executors that hold the inference engine.
 *
 * <p>Nothing may count, sort, show or shuffle the result before it is written: each would generate again.
 *
 * @param runId the run
 * @param resident how executors set the model up
 * @param sampling how responses are sampled
 * @param partitions tasks of the rollout, as a rule one per executor
 */
public record RolloutStage(String runId, ResidentSettings resident, RolloutSampling sampling, int partitions)
        implements Serializable {

    private static final String ENVIRONMENT = "single_turn";

    /**
     * Describes the rollout.
     *
     * @param prompts rows of {@link PromptSchema#PROMPT} with their {@code position} in the batch
     * @param iteration the iteration, part of every seed and key
     * @param weights the policy
     * @return rows of {@link Table#TRAJECTORIES}, {@link RolloutSampling#trajectoriesPerPrompt} per prompt; evaluated when written
     */
    public Dataset<Row> run(Dataset<Row> prompts, int iteration, WeightsRef weights) {
        return prompts.repartitionById(
                        partitions, pmod(col("position"), lit(partitions)).cast("int"))
                .sortWithinPartitions("position")
                .mapPartitions(
                        (MapPartitionsFunction<Row, Row>) rows -> rollOut(rows, iteration, weights),
                        Encoders.row(Schemas.struct(Table.TRAJECTORIES)));
    }

    /** Submits all prompts of the partition at once, so that the engine is never short of work. */
    private Iterator<Row> rollOut(Iterator<Row> rows, int iteration, WeightsRef weights) {
        ResidentModel model = ExecutorHost.model(runId, Role.POLICY, weights, resident);
        ChatTokenizer text = model.tokenizer(weights, sampling.templateVariables());
        InferenceEngine engine = model.engine(weights);
        List<Prompt> prompts = new ArrayList<>();
        rows.forEachRemaining(row -> prompts.add(prompt(row, text)));
        List<Sample> samples = submit(engine, prompts, iteration, text);
        // A task that fails or is killed must not leave work behind that the next one waits for.
        TaskCompletionListener cancel =
                task -> samples.forEach(sample -> sample.generation().cancel(false));
        TaskContext.get().addTaskCompletionListener(cancel);
        Iterator<Sample> pending = samples.iterator();
        return new Iterator<>() {
            @Override
            public boolean hasNext() {
                return pending.hasNext();
            }

            @Override
            public Row next() {
                return trajectory(pending.next(), iteration, weights, text).toRow();
            }
        };
    }

    /** A prompt of the partition with its tokens. */
    private record Prompt(Row row, long position, List<Message> messages, int[] ids) {}

    /** A sample that the engine works on. */
    private record Sample(Prompt prompt, int index, CompletableFuture<Generation> generation) {}

    private static Prompt prompt(Row row, ChatTokenizer text) {
        List<Message> messages = PromptSchema.messages(row, "prompt");
        int[] ids = text.encode(messages, PromptSchema.tools(row), GenerationPrompt.ADD)
                .ids();
        int position = row.getAs("position");
        return new Prompt(row, position, messages, ids);
    }

    private List<Sample> submit(InferenceEngine engine, List<Prompt> prompts, int iteration, ChatTokenizer text) {
        List<GenerationRequest> requests = new ArrayList<>();
        prompts.forEach(prompt -> requests.add(request(prompt, iteration, text)));
        if (sampling.baseline() == Baseline.GREEDY) {
            RolloutStage greedy = new RolloutStage(runId, resident, sampling.greedy(), partitions);
            prompts.forEach(prompt -> requests.add(greedy.request(prompt, iteration, text)));
        }
        List<List<CompletableFuture<Generation>>> groups = engine.submitAll(requests);
        List<Sample> samples = new ArrayList<>();
        for (int i = 0; i < groups.size(); i++) {
            Prompt prompt = prompts.get(i % prompts.size());
            int first = i < prompts.size() ? 0 : TrajectoryKey.GREEDY_BASELINE;
            for (CompletableFuture<Generation> generation : groups.get(i)) {
                samples.add(new Sample(prompt, first++, generation));
            }
        }
        return samples;
    }

    private GenerationRequest request(Prompt prompt, int iteration, ChatTokenizer text) {
        long[] seeds = new long[sampling.n()];
        for (int index = 0; index < seeds.length; index++) {
            seeds[index] = SampleSeed.of(sampling.seed(), iteration, prompt.position(), index, 0);
        }
        return new GenerationRequest(
                prompt.ids(), sampling.params(text.tokenizer().stopIds()), seeds);
    }

    private Trajectory trajectory(Sample sample, int iteration, WeightsRef weights, ChatTokenizer text) {
        try {
            return completed(sample, sample.generation().join(), iteration, text);
        } catch (CompletionException e) {
            if (e.getCause() instanceof GenerationException cause) {
                // A failed generation is data: a row with a status, absent from statistics and loss.
                return failed(sample, cause, iteration, weights);
            }
            throw new IllegalStateException(
                    "Cannot roll out: " + e.getCause().getMessage(),
                    e.getCause()); // the engine is gone, not the sample
        }
    }

    private Trajectory completed(Sample sample, Generation generation, int iteration, ChatTokenizer text) {
        String content = text.tokenizer().decode(generation.ids(), SpecialTokens.SKIP);
        String reason = generation.finishReason().name().toLowerCase(java.util.Locale.ROOT);
        boolean truncated = !reason.equals("stop");
        Turn turn = new Turn(0, generation.ids().length, reason, truncated, null, generation.millis(), 0);
        return row(
                sample,
                iteration,
                generation.weightsVersion(),
                List.of(Message.of("assistant", content)),
                Tokens.sampled(sample.prompt().ids(), generation.ids(), generation.logProbs()),
                List.of(turn),
                truncated ? Outcome.truncated("max_response_length") : Outcome.completed("stop"),
                Map.of("generation", generation.millis() / 1000.0));
    }

    private Trajectory failed(Sample sample, Throwable cause, int iteration, WeightsRef weights) {
        return row(
                sample,
                iteration,
                weights.version(),
                List.of(),
                Tokens.sampled(sample.prompt().ids(), new int[0], new float[0]),
                List.of(),
                Outcome.failed("generation", String.valueOf(cause.getMessage())),
                Map.of());
    }

    private Trajectory row(
            Sample sample,
            int iteration,
            long weightsVersion,
            List<Message> completion,
            Tokens tokens,
            List<Turn> turns,
            Outcome outcome,
            Map<String, Double> timing) {
        Row data = sample.prompt().row();
        return new Trajectory(
                TrajectoryKey.of(runId, iteration, sample.prompt().position(), data.getAs("prompt_id"), sample.index()),
                0,
                data.getAs("data_source"),
                ENVIRONMENT,
                0,
                weightsVersion,
                sample.prompt().messages(),
                completion,
                tokens,
                turns,
                outcome,
                Map.of(),
                timing,
                null,
                data.getAs("ground_truth"),
                data.getAs("extra"),
                null);
    }
}
