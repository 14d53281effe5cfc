package io.bellows.benchmarks;

import ai.djl.Device;
import ai.djl.pytorch.jni.JniUtils;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.model.Decoder;
import io.bellows.model.Gradients;
import io.bellows.model.Kernels;
import io.bellows.model.ModelConfig;
import io.bellows.model.PackedSequences;
import io.bellows.model.PackedSequences.Sequence;
import io.bellows.model.Weights;
import io.bellows.training.AdamW;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** An optimizer step and a scoring pass on groups of samples, with and without a prompt in common, one after the other in every round. */
@Command(
        name = "prompts",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        description =
                "Measures an update and its log-probs: samples of one prompt against as many prompts of that length.")
final class SharedPromptBenchmark implements Callable<Integer> {

    /** What a sample's prompt is. */
    private enum Prompts {
        /** That of its group, which is computed once. */
        SHARED,
        /** One of its own: computed for every sample. */
        OWN
    }

    @Option(names = "--size", defaultValue = "S", description = "${COMPLETION-CANDIDATES}")
    private ModelSize size;

    @Option(names = "--groups", defaultValue = "16", description = "Groups of a step.")
    private int groups;

    @Option(names = "--samples", defaultValue = "8", description = "Samples of a group.")
    private int samples;

    @Option(names = "--prompt", defaultValue = "64", description = "Tokens of a prompt.")
    private int prompt;

    @Option(names = "--response", defaultValue = "64", description = "Tokens of a response.")
    private int response;

    @Option(names = "--threads", defaultValue = "2", description = "Native threads.")
    private int threads;

    @Option(names = "--rounds", defaultValue = "5", description = "Measured rounds, after one that is not.")
    private int rounds;

    @Override
    public Integer call() {
        ModelConfig config = size.config(0);
        try (Kernels kernels = Kernels.load(Device.cpu());
                Machine machine = new Machine(kernels);
                Weights weights = Weights.random(kernels, config, 1);
                Decoder decoder = new Decoder(kernels, config, prompt + response);
                Gradients gradients = Gradients.of(kernels, weights);
                AdamW optimizer = new AdamW(kernels, weights, new AdamW.Settings(0.9, 0.999, 1e-8, 0.01))) {
            JniUtils.setNumThreads(threads);
            Map<Prompts, double[]> updates = new EnumMap<>(Prompts.class);
            Map<Prompts, double[]> scores = new EnumMap<>(Prompts.class);
            double[] products = new double[rounds + 1];
            for (int round = -1; round < rounds; round++) {
                products[round + 1] = machine.sgemm().seconds();
                for (Prompts prompts : Prompts.values()) {
                    PackedSequences batch = batch(prompts, config.vocabularySize());
                    Stopwatch update = Stopwatch.start();
                    UpdateBenchmark.step(decoder, weights, gradients, optimizer, batch);
                    record(updates, prompts, round, update);
                    Stopwatch score = Stopwatch.start();
                    decoder.score(weights, batch, 1);
                    record(scores, prompts, round, score);
                }
            }
            System.out.println(result(config, updates, scores, Machine.median(products)));
            return 0;
        }
    }

    private void record(Map<Prompts, double[]> times, Prompts prompts, int round, Stopwatch watch) {
        double seconds = watch.stop().seconds();
        if (round >= 0) {
            times.computeIfAbsent(prompts, key -> new double[rounds])[round] = seconds;
        }
    }

    private PackedSequences batch(Prompts prompts, int vocabulary) {
        Random random = new Random(1);
        List<Sequence> sequences = new ArrayList<>();
        for (int group = 0; group < groups; group++) {
            int[] common = random.ints(prompt, 0, vocabulary).toArray();
            for (int sample = 0; sample < samples; sample++) {
                int[] own = prompts == Prompts.SHARED
                        ? common
                        : random.ints(prompt, 0, vocabulary).toArray();
                int[] ids = IntStream.concat(Arrays.stream(own), random.ints(response, 0, vocabulary))
                        .toArray();
                sequences.add(new Sequence(ids, prompt));
            }
        }
        return PackedSequences.of(sequences);
    }

    private ObjectNode result(
            ModelConfig config, Map<Prompts, double[]> updates, Map<Prompts, double[]> scores, double product) {
        ObjectNode result = new ObjectMapper()
                .createObjectNode()
                .put("benchmark", "prompts")
                .put("size", size.name())
                .put("groups", groups)
                .put("samples", samples)
                .put("prompt", prompt)
                .put("response", response)
                .put("threads", threads);
        for (Prompts prompts : Prompts.values()) {
            String name = prompts.name().toLowerCase(Locale.ROOT);
            result.put(name + "_tokens", batch(prompts, config.vocabularySize()).ids().length)
                    .put(name + "_update_seconds", Machine.median(updates.get(prompts)))
                    .put(name + "_score_seconds", Machine.median(scores.get(prompts)));
        }
        return result.put("update_gain", ratio(updates))
                .put("score_gain", ratio(scores))
                .put("sgemm_gflops", Machine.sgemmFlops() / product / 1e9);
    }

    private static double ratio(Map<Prompts, double[]> times) {
        return Machine.median(times.get(Prompts.OWN)) / Machine.median(times.get(Prompts.SHARED));
    }
}
