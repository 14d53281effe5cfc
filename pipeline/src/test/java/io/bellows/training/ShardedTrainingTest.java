package io.bellows.training;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import ai.djl.Device;
import io.bellows.config.ActorConfig;
import io.bellows.config.BellowsConfig;
import io.bellows.config.OptimConfig;
import io.bellows.model.Decoder;
import io.bellows.model.GoldenModel;
import io.bellows.model.Gradients;
import io.bellows.model.InvalidModelException;
import io.bellows.model.Kernels;
import io.bellows.model.Weights;
import io.bellows.training.collective.Collective;
import io.bellows.training.collective.RingListener;
import io.bellows.udfs.metrics.Metrics;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Several ranks, each a thread with a model of its own, come to what one rank comes to. */
class ShardedTrainingTest {

    // A large epsilon: where a gradient is 0 but for float noise, Adam would make a whole step of the noise.
    private static final AdamW.Settings ADAM_W = new AdamW.Settings(0.9, 0.999, 1e-3, 0.01);
    private static final double TOLERANCE = 1e-5;
    private static final int STEPS = 3;
    private static final double HUGE = 1e6;

    @TempDir
    private Path folder;

    /** What a rank starts from, does, and leaves behind. */
    private record Run(Objective objective, Path from, Path to, int firstStep) {}

    /** Weights and metrics that came out. */
    private record Outcome(float[] weights, Metrics metrics) {}

    private static List<TrainingSequence> rows(int step) {
        Random random = new Random(step);
        List<TrainingSequence> rows = new ArrayList<>();
        for (int i = 0; i < 7; i++) {
            int response = 1 + random.nextInt(6);
            float[] old = new float[response];
            float[] advantages = new float[response];
            boolean[] mask = new boolean[response];
            for (int t = 0; t < response; t++) {
                old[t] = -5 + random.nextFloat();
                advantages[t] = (float) random.nextGaussian();
                mask[t] = random.nextInt(5) > 0;
            }
            int[] ids = random.ints(response, 1, 60).toArray();
            rows.add(new TrainingSequence(
                    step + "/" + i,
                    random.ints(3, 1, 60).toArray(),
                    ids,
                    mask,
                    old,
                    old,
                    advantages,
                    null,
                    null,
                    null,
                    null));
        }
        return rows;
    }

    private static PolicyObjective policy(String... overrides) {
        List<String> keys = new ArrayList<>(List.of(
                "data.train_files=" + GoldenModel.path("/data/gsm8k/test.jsonl"),
                "model.path=" + GoldenModel.named("qwen2").folder(),
                "data.max_prompt_length=8",
                "data.max_response_length=8",
                "data.train_batch_size=8",
                "rollout.n=2",
                "actor.ppo_mini_batch_size=4",
                "reward.functions=[{name: number_match}]"));
        keys.addAll(List.of(overrides));
        BellowsConfig config = BellowsConfig.load(null, keys);
        ActorConfig actor = config.actor();
        return new PolicyObjective(actor, config.algorithm().rolloutCorrection(), 1, 8, 3);
    }

    private static Outcome train(Collective ranks, Run run) {
        OptimConfig optim = new OptimConfig(1e-2, -1, 0, "constant", 0, 0.01, List.of(0.9, 0.999), 1e-8);
        try (Kernels kernels = Kernels.load(Device.cpu());
                Weights weights =
                        Weights.load(kernels, GoldenModel.named("qwen2").folder());
                Decoder decoder = new Decoder(kernels, weights.config(), 16);
                Gradients gradients = Gradients.of(kernels, weights);
                AdamW optimizer = new AdamW(kernels, weights, ADAM_W, ranks.rank(), ranks.size())) {
            if (run.from != null) {
                optimizer.restore(run.from);
            }
            UpdateSettings settings = new UpdateSettings(
                    run.objective, ADAM_W, new LearningRateSchedule(optim, 100), 1, MicroBatching.byTokens(16));
            Trainer trainer = new Trainer(new TrainedModel(decoder, weights, gradients), optimizer, settings, ranks);
            Metrics metrics = Metrics.empty();
            for (int step = run.firstStep; step < run.firstStep + STEPS; step++) {
                metrics = metrics.merge(trainer.step(own(rows(step), ranks)));
            }
            trainer.requireSameWeights();
            if (run.to != null) {
                optimizer.save(run.to);
            }
            return new Outcome(values(weights), metrics);
        }
    }

    /** The rows of a rank: uneven on purpose. */
    private static List<TrainingSequence> own(List<TrainingSequence> all, Collective ranks) {
        return IntStream.range(0, all.size())
                .filter(i -> i % 4 % ranks.size() == ranks.rank())
                .mapToObj(all::get)
                .toList();
    }

    private static float[] values(Weights weights) {
        List<float[]> all = new ArrayList<>();
        weights.parameters().values().forEach(tensor -> all.add(tensor.toFloatArray()));
        return Floats.joined(all);
    }

    private static List<Outcome> onRanks(int ranks, Run run) throws Exception {
        return onRanks(ranks, collective -> train(collective, run));
    }

    private static List<Outcome> onRanks(int ranks, Function<Collective, Outcome> work) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(ranks);
        List<RingListener> listeners = new ArrayList<>();
        List<InetSocketAddress> addresses = new ArrayList<>();
        try {
            for (int rank = 0; rank < ranks; rank++) {
                listeners.add(RingListener.bind(
                        InetAddress.getLoopbackAddress(), new byte[] {1, 2, 3}, Duration.ofSeconds(60)));
                addresses.add(new InetSocketAddress(
                        InetAddress.getLoopbackAddress(), listeners.get(rank).port()));
            }
            List<Future<Outcome>> running = new ArrayList<>();
            for (int i = 0; i < ranks; i++) {
                int rank = i;
                running.add(threads.submit(() -> {
                    try (Collective collective = listeners.get(rank).connect(rank, addresses, 0)) {
                        return work.apply(collective);
                    }
                }));
            }
            List<Outcome> outcomes = new ArrayList<>();
            for (Future<Outcome> one : running) {
                outcomes.add(one.get());
            }
            return outcomes;
        } finally {
            threads.shutdownNow();
            listeners.forEach(RingListener::close);
        }
    }

    private static Metrics merged(List<Outcome> outcomes) {
        Metrics all = Metrics.empty();
        for (Outcome one : outcomes) {
            all = all.merge(one.metrics);
        }
        return all;
    }

    private static void assertSame(List<Outcome> several, Outcome one) {
        for (Outcome rank : several) {
            assertThat(rank.weights).isEqualTo(several.get(0).weights);
        }
        double worst = 0;
        for (int i = 0; i < one.weights.length; i++) {
            worst = Math.max(worst, Math.abs(one.weights[i] - several.get(0).weights[i]));
        }
        assertThat(worst).as("largest difference of a weight").isLessThan(1e-4);
        merged(several)
                .values()
                .forEach((name, value) -> assertThat(value)
                        .as(name)
                        .isCloseTo(one.metrics.values().get(name), within(TOLERANCE + 1e-4 * Math.abs(value))));
        assertThat(merged(several).values())
                .containsOnlyKeys(one.metrics.values().keySet());
    }

    @Test
    void anyNumberOfRanksComesToWhatOneComesTo() throws Exception {
        Run run = new Run(policy("actor.entropy_coeff=0.01"), null, null, 0);
        Outcome one = train(Collective.alone(), run);
        assertThat(one.metrics.values().get("actor/mini_batches")).isEqualTo(STEPS);
        assertSame(onRanks(2, run), one);
        assertSame(onRanks(3, run), one);
    }

    @Test
    void aLossThatComparesTheTokensOfAMiniBatchComparesThoseOfAllRanks() throws Exception {
        Run run = new Run(
                policy("actor.policy_loss.loss_mode=kl_cov", "actor.policy_loss.kl_cov_ratio=0.2"), null, null, 0);
        assertSame(onRanks(2, run), train(Collective.alone(), run));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "actor.policy_loss.loss_mode=vanilla",
                "actor.policy_loss.loss_mode=clip_cov",
                "actor.policy_loss.loss_mode=gspo",
                "algorithm.rollout_correction.bypass_mode=true",
                "actor.loss_agg_mode=seq-mean-token-mean"
            })
    void lossAndGradientDoNotChangeWithTheNumberOfRanks(String setting) throws Exception {
        Objective objective = policy(setting, "actor.policy_loss.clip_cov_ratio=0.3");
        Outcome one = descend(Collective.alone(), objective);
        for (int ranks = 2; ranks <= 3; ranks++) {
            List<Outcome> several = onRanks(ranks, collective -> descend(collective, objective));
            assertThat(merged(several).values().get("actor/loss"))
                    .isCloseTo(one.metrics.values().get("actor/loss"), within(1e-6));
            assertThat(distance(several.get(0).weights, one.weights))
                    .as("distance of the gradients of %s ranks and of one", ranks)
                    .isLessThan(1e-5 * distance(one.weights, new float[one.weights.length]));
        }
    }

    /**
     * A hundred times the gradient of one mini-batch, as a step of plain gradient descent shows it: AdamW without memory and with a huge
     * epsilon. Of once the gradient the rounding of the weights would hide too much.
     */
    private static Outcome descend(Collective ranks, Objective objective) {
        AdamW.Settings plain = new AdamW.Settings(0, 0, HUGE, 0);
        OptimConfig optim = new OptimConfig(100 * HUGE, -1, 0, "constant", 0, 0, List.of(0.0, 0.0), HUGE);
        try (Kernels kernels = Kernels.load(Device.cpu());
                Weights weights =
                        Weights.load(kernels, GoldenModel.named("qwen2").folder());
                Decoder decoder = new Decoder(kernels, weights.config(), 16);
                Gradients gradients = Gradients.of(kernels, weights);
                AdamW optimizer = new AdamW(kernels, weights, plain, ranks.rank(), ranks.size())) {
            float[] gradient = values(weights);
            UpdateSettings settings = new UpdateSettings(
                    objective, plain, new LearningRateSchedule(optim, 100), 0, MicroBatching.byTokens(16));
            Metrics metrics = new Trainer(new TrainedModel(decoder, weights, gradients), optimizer, settings, ranks)
                    .step(own(rows(0), ranks));
            float[] after = values(weights);
            for (int i = 0; i < gradient.length; i++) {
                gradient[i] -= after[i];
            }
            return new Outcome(gradient, metrics);
        }
    }

    private static double distance(float[] a, float[] b) {
        double sum = 0;
        for (int i = 0; i < a.length; i++) {
            sum += ((double) a[i] - b[i]) * ((double) a[i] - b[i]);
        }
        return Math.sqrt(sum);
    }

    @Test
    void whatSomeRanksSavedAnyOtherNumberContinues() throws Exception {
        Objective objective = policy();
        Path whole = folder.resolve("whole/actor.safetensors");
        Path shards = folder.resolve("shards/actor.safetensors");
        Files.createDirectories(whole.getParent());
        Files.createDirectories(shards.getParent());
        train(Collective.alone(), new Run(objective, null, whole, 0));
        onRanks(2, new Run(objective, null, shards, 0));
        assertThat(shards.getParent().toFile().list())
                .containsExactlyInAnyOrder("actor-00001-of-00002.safetensors", "actor-00002-of-00002.safetensors");

        Outcome undisturbed = train(Collective.alone(), new Run(objective, whole, null, STEPS));
        assertSame(onRanks(3, new Run(objective, shards, null, STEPS)), undisturbed);
        assertSame(onRanks(2, new Run(objective, whole, null, STEPS)), undisturbed);
        assertSame(List.of(train(Collective.alone(), new Run(objective, shards, null, STEPS))), undisturbed);
    }

    @Test
    void aStateThatLacksARanksFileIsRefused() throws Exception {
        Path shards = folder.resolve("actor.safetensors");
        onRanks(2, new Run(new SupervisedObjective(), null, shards, 0));
        Files.delete(folder.resolve("actor-00002-of-00002.safetensors"));
        assertThatThrownBy(() -> train(Collective.alone(), new Run(new SupervisedObjective(), shards, null, 0)))
                .isInstanceOf(InvalidModelException.class)
                .hasMessageStartingWith("Cannot find the optimizer state " + shards);
    }

    @Test
    void aStepThatIsNotFiniteOnOneRankIsLeftOutByAll() throws Exception {
        record Faulty() implements TokenObjective {
            @Override
            public double temperature() {
                return 1;
            }

            @Override
            public io.bellows.udfs.loss.BatchTotals totals(io.bellows.udfs.loss.Sequences sequences) {
                return new SupervisedObjective().totals(sequences);
            }

            @Override
            public io.bellows.udfs.loss.LossGradient compute(
                    MicroBatch batch, io.bellows.model.TokenScores scores, io.bellows.udfs.loss.BatchTotals totals) {
                int tokens = batch.sequences().tokens();
                boolean first = batch.rows().stream().anyMatch(row -> row.id().endsWith("/0"));
                return new io.bellows.udfs.loss.LossGradient(
                        first ? Double.NaN : 0, new double[tokens], new double[tokens], Metrics.empty());
            }
        }

        List<Outcome> outcomes = onRanks(2, new Run(new Faulty(), null, null, 0));
        assertThat(merged(outcomes).values())
                .containsEntry("actor/skipped_steps", (double) STEPS)
                .containsEntry("actor/mini_batches", (double) STEPS);
        assertThat(outcomes.get(1).weights).isEqualTo(outcomes.get(0).weights);
    }

    @Test
    void theOrderOfFilesIsThatOfRanks() throws IOException {
        Path file = folder.resolve("actor.safetensors");
        Files.writeString(StateFiles.of(file, 1, 2), "");
        Files.writeString(StateFiles.of(file, 0, 2), "");
        assertThat(StateFiles.existing(file)).containsExactly(StateFiles.of(file, 0, 2), StateFiles.of(file, 1, 2));
    }
}
