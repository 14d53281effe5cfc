package io.bellows.run;

import io.bellows.cluster.Cluster;
import io.bellows.config.BellowsConfig;
import io.bellows.config.Purpose;
import io.bellows.data.DatasetOptions;
import io.bellows.data.DatasetOptions.Completions;
import io.bellows.data.EpochOrder;
import io.bellows.data.EpochOrder.Remainder;
import io.bellows.data.EpochOrder.Shuffle;
import io.bellows.data.PromptDataset;
import io.bellows.data.PromptLength;
import io.bellows.model.ModelConfig;
import io.bellows.resident.ExecutorHost;
import io.bellows.trajectory.Table;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.spark.sql.SparkSession;

/**
 * Reinforcement learning from the first iteration to the last: prompts, rollout, scores, log-probs, advantages, update,
 * checkpoint. Each table is committed once; a loop started again goes on at the first table that is not.
 */
public final class TrainLoop {

    private static final int ALL = Integer.MAX_VALUE;

    private final SparkSession spark;
    private final BellowsConfig config;
    private final Progress progress;

    /**
     * Creates the loop.
     *
     * @param spark the session
     * @param config a checked configuration
     * @param progress told how it goes
     */
    public TrainLoop(SparkSession spark, BellowsConfig config, Progress progress) {
        this.spark = spark;
        this.config = config;
        this.progress = progress;
    }

    /**
     * Trains to the end, from where the run directory stopped.
     *
     * @return what came out
     * @throws InvalidRunException if the run directory cannot be continued with this configuration
     */
    public RunSummary run() {
        return run(ALL, Stage.UPDATE);
    }

    /** A stage of an iteration that can be run alone. */
    public enum Stage {
        /** Trajectories. */
        ROLLOUT,
        /** Their scores. */
        SCORE,
        /** Log-probs and advantages. */
        ADVANTAGE,
        /** New weights, and the commit of the iteration. */
        UPDATE
    }

    /**
     * Runs one iteration up to one of its stages. What is committed is not run again; what is missing before the stage is run.
     *
     * @param iteration counted from 1
     * @param last the last stage to run
     * @return what came out so far
     * @throws InvalidRunException if the iteration before is not committed, or the run has fewer iterations
     */
    public RunSummary run(int iteration, Stage last) {
        long start = System.nanoTime();
        Cluster.requireUsable(spark);
        String memory = MemoryCheck.of(spark, config, Purpose.TRAIN, progress);
        try (RunDirectory run = RunDirectory.start(spark, config);
                PromptDataset training = trainingData(spark, config);
                PromptDataset heldOut = config.data().valFiles().isEmpty()
                        ? null
                        : load(
                                spark,
                                config,
                                config.data().valFiles(),
                                config.data().valMaxSamples())) {
            progress.message("training data: " + training.report().summary());
            if (heldOut != null) {
                progress.message("validation data: " + heldOut.report().summary());
            }
            EpochOrder order = order(config, training);
            int iterations = iterations(config, order);
            Stages stages = Stages.of(spark, config, progress, run.runId(), heldOut, iterations);
            progress.header(facts(run, training, iterations, memory));
            try {
                iterate(run, training, order, stages, iterations, iteration, last);
            } finally {
                ExecutorHost.release(run.runId());
            }
            return summary(run, (System.nanoTime() - start) / 1e9);
        }
    }

    static PromptDataset trainingData(SparkSession spark, BellowsConfig config) {
        return load(spark, config, config.data().trainFiles(), config.data().trainMaxSamples());
    }

    static EpochOrder order(BellowsConfig config, PromptDataset training) {
        return new EpochOrder(
                training.size(),
                config.dataSeed(),
                config.data().shuffle() ? Shuffle.EACH_EPOCH : Shuffle.NONE,
                Remainder.DROP);
    }

    static PromptDataset load(SparkSession spark, BellowsConfig config, List<String> files, int maxSamples) {
        return PromptDataset.load(
                spark,
                files,
                DatasetOptions.from(config.data(), Completions.OPTIONAL).withMaxSamples(maxSamples),
                PromptLength.ofModel(
                        Path.of(config.model().path()), config.data().applyChatTemplateKwargs()));
    }

    /** The iterations of the whole run. */
    static int iterations(BellowsConfig config, EpochOrder order) {
        Integer steps = config.trainer().totalTrainingSteps();
        return steps != null
                ? steps
                : Math.toIntExact(order.batchesPerEpoch(config.data().trainBatchSize())
                        * config.trainer().totalEpochs());
    }

    private void iterate(
            RunDirectory run,
            PromptDataset training,
            EpochOrder order,
            Stages stages,
            int iterations,
            int only,
            Stage until) {
        int next = run.latestCommittedIteration().orElse(0) + 1;
        if (only < next) {
            progress.message("iteration " + only + " of " + run.uri() + " is committed: nothing to do");
            return;
        }
        if (only != ALL && (only > next || only > iterations)) {
            throw new InvalidRunException("Cannot run iteration " + only + " of " + run.uri() + ": the next one is "
                    + next + " of " + iterations + "; run the stages of that one first");
        }
        Models models = Models.of(config, run.latestCheckpoint());
        long seed = config.trainer().seed();
        boolean validates = stages.validation() != null;
        if (validates
                && run.latestCommittedIteration().isEmpty()
                && config.trainer().valBeforeTrain()) {
            progress.metrics(0, Iteration.zero(spark, progress, run, stages, models, seed));
        }
        int last = run.latestCommittedIteration().orElse(0);
        if (last > 0) {
            progress.message("continuing after iteration " + last + " of " + run.uri());
        }
        RolloutRounds rollouts = new RolloutRounds(config, RoundPrompts.of(training, order), stages, progress);
        for (int i = next; i <= Math.min(iterations, only); i++) {
            IterationState before = run.latestState().orElse(IterationState.initial(seed, null));
            boolean due = i == iterations || isDue(config.trainer().testFreq(), i);
            Optional<Iteration.Result> result = new Iteration(spark, config, progress, run, stages, i, before, models)
                    .run(rollouts, validates && due, until);
            if (result.isEmpty()) {
                return;
            }
            models = result.get().models();
            progress.metrics(i, result.get().metrics());
            IterationMetrics.warning(i, result.get().metrics()).ifPresent(progress::message);
        }
    }

    private static boolean isDue(int frequency, int iteration) {
        return frequency > 0 && iteration % frequency == 0;
    }

    private Map<String, String> facts(RunDirectory run, PromptDataset training, int iterations, String memory) {
        ModelConfig model = ModelConfig.read(Path.of(config.model().path()));
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put(
                "model",
                config.model().path() + " (" + model.modelType() + ", " + model.parameterCount() + " parameters)");
        facts.put(
                "data",
                training.size() + " prompts of "
                        + String.join(", ", config.data().trainFiles()));
        facts.put(
                "algorithm",
                config.algorithm().advEstimator() + ", " + iterations + " iterations of "
                        + config.data().trainBatchSize() + " prompts x "
                        + config.rollout().n() + " samples");
        facts.put("memory", memory);
        facts.put("run", run.uri());
        return facts;
    }

    private static RunSummary summary(RunDirectory run, double seconds) {
        List<Map<String, Double>> metrics = MetricRows.byIteration(run.committed(Table.METRICS));
        return new RunSummary(
                run.uri(),
                run.latestCommittedIteration().orElse(0),
                accuracy(metrics.stream().limit(1).filter(first -> first.get("training/global_step") == 0)),
                accuracy(metrics.stream()),
                seconds,
                metrics);
    }

    /** The newest greedy accuracy among some iterations, of the first data source by name; NaN without validation. */
    private static double accuracy(Stream<Map<String, Double>> iterations) {
        return iterations
                .flatMap(iteration -> iteration.entrySet().stream()
                        .filter(entry -> entry.getKey().startsWith("val-core/")
                                && entry.getKey().endsWith("/acc/mean@1"))
                        .map(Map.Entry::getValue)
                        .limit(1))
                .reduce(Double.NaN, (older, newer) -> newer);
    }
}
