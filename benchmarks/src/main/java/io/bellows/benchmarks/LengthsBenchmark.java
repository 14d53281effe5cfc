package io.bellows.benchmarks;

import ai.djl.Device;
import ai.djl.pytorch.jni.JniUtils;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.model.Decoder;
import io.bellows.model.ForwardPass;
import io.bellows.model.Gradients;
import io.bellows.model.Kernels;
import io.bellows.model.ModelConfig;
import io.bellows.model.PackedSequences;
import io.bellows.model.PackedSequences.Sequence;
import io.bellows.model.Weights;
import io.bellows.training.AdamW;
import io.bellows.udfs.batching.MicroBatches;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * An optimizer step on responses of long-tailed lengths, with and without padding, one after the other in every round.
 *
 * <p>The padded sides run the same kernels. They take fixed micro-batches in the order of the data; every response goes through the model
 * and its head up to the padded length, and the loss leaves the padding out.
 */
@Command(
        name = "lengths",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        description = "Measures an update on long-tailed lengths: padding-free against padded micro-batches.")
final class LengthsBenchmark implements Callable<Integer> {

    /** How a batch is laid out. */
    private enum Layout {
        /** No padding; micro-batches by tokens, as many as a padded one has at most. */
        PADDING_FREE,
        /** Padded to the longest of the micro-batch. */
        LONGEST,
        /** Padded to the cap. */
        CAP
    }

    @Option(names = "--size", defaultValue = "S", description = "${COMPLETION-CANDIDATES}")
    private ModelSize size;

    @Option(names = "--rows", defaultValue = "128", description = "Responses of a step.")
    private int rows;

    @Option(names = "--micro", defaultValue = "16", description = "Rows of a padded micro-batch.")
    private int micro;

    @Option(names = "--prompt", defaultValue = "64", description = "Tokens of a prompt.")
    private int prompt;

    @Option(names = "--end", defaultValue = "0.0191", description = "Probability that a token is the last.")
    private double end;

    @Option(names = "--cap", defaultValue = "256", description = "Most tokens of a response.")
    private int cap;

    @Option(names = "--threads", defaultValue = "2", description = "Native threads.")
    private int threads;

    @Option(names = "--rounds", defaultValue = "5", description = "Measured rounds, after one that is not.")
    private int rounds;

    @Override
    public Integer call() {
        ModelConfig config = size.config(0);
        int[] lengths = lengths();
        try (Kernels kernels = Kernels.load(Device.cpu());
                Machine machine = new Machine(kernels);
                Weights weights = Weights.random(kernels, config, 1);
                Decoder decoder = new Decoder(kernels, config, prompt + cap);
                Gradients gradients = Gradients.of(kernels, weights);
                AdamW optimizer = new AdamW(kernels, weights, new AdamW.Settings(0.9, 0.999, 1e-8, 0.01))) {
            JniUtils.setNumThreads(threads);
            Map<Layout, double[]> seconds = new EnumMap<>(Layout.class);
            double[] products = new double[rounds + 1];
            for (int round = -1; round < rounds; round++) {
                products[round + 1] = machine.sgemm().seconds();
                for (Layout layout : Layout.values()) {
                    Stopwatch watch = Stopwatch.start();
                    gradients.zero();
                    for (PackedSequences batch : batches(layout, lengths, config.vocabularySize())) {
                        accumulate(decoder, weights, gradients, batch);
                    }
                    gradients.scale(1 / Math.max(1, gradients.norm()));
                    optimizer.step(gradients, 1e-5);
                    if (round >= 0) {
                        seconds.computeIfAbsent(layout, key -> new double[rounds])[round] =
                                watch.stop().seconds();
                    }
                }
            }
            System.out.println(result(lengths, seconds, Machine.median(products)));
            return 0;
        }
    }

    /**
     * The quantiles of the geometric distribution, cut at the cap, in an order drawn once: a draw of a hundred lengths would miss its mean by
     * a tenth and more.
     */
    private int[] lengths() {
        List<Integer> lengths = new ArrayList<>();
        for (int row = 0; row < rows; row++) {
            double quantile = (row + 0.5) / rows;
            lengths.add(Math.min(cap, 1 + (int) (Math.log1p(-quantile) / Math.log1p(-end))));
        }
        Collections.shuffle(lengths, new Random(1));
        return lengths.stream().mapToInt(Integer::intValue).toArray();
    }

    private List<PackedSequences> batches(Layout layout, int[] lengths, int vocabulary) {
        int[] totals = Arrays.stream(lengths).map(length -> prompt + length).toArray();
        List<int[]> plan = layout == Layout.PADDING_FREE
                ? MicroBatches.plan(totals, micro * (prompt + cap))
                : MicroBatches.fixed(rows, micro);
        List<PackedSequences> batches = new ArrayList<>();
        for (int[] members : plan) {
            int longest = Arrays.stream(members).map(row -> totals[row]).max().orElseThrow();
            List<Sequence> sequences = new ArrayList<>();
            for (int row : members) {
                int padded = switch (layout) {
                    case PADDING_FREE -> totals[row];
                    case LONGEST -> longest;
                    case CAP -> prompt + cap;
                };
                int[] ids = new Random(row).ints(padded, 0, vocabulary).toArray();
                sequences.add(new Sequence(ids, prompt));
            }
            batches.add(PackedSequences.of(sequences));
        }
        return batches;
    }

    /** The derivative's value does not matter for the time; that of padding would be zero, which costs the same. */
    private static void accumulate(Decoder decoder, Weights weights, Gradients gradients, PackedSequences batch) {
        try (ForwardPass pass = decoder.forward(weights, batch, 1.0)) {
            float[] dLogProb = new float[batch.targets().length];
            Arrays.fill(dLogProb, -1f / dLogProb.length);
            pass.backward(gradients, dLogProb, new float[dLogProb.length]);
        }
    }

    private ObjectNode result(int[] lengths, Map<Layout, double[]> seconds, double product) {
        double free = Machine.median(seconds.get(Layout.PADDING_FREE));
        double longest = Machine.median(seconds.get(Layout.LONGEST));
        double padded = Machine.median(seconds.get(Layout.CAP));
        return new ObjectMapper()
                .createObjectNode()
                .put("benchmark", "lengths")
                .put("size", size.name())
                .put("rows", rows)
                .put("mean_length", Arrays.stream(lengths).average().orElseThrow())
                .put("threads", threads)
                .put("padding_free_seconds", free)
                .put("longest_seconds", longest)
                .put("cap_seconds", padded)
                .put("gain_over_longest", longest / free)
                .put("gain_over_cap", padded / free)
                .put("sgemm_gflops", Machine.sgemmFlops() / product / 1e9);
    }
}
