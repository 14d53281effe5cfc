package io.bellows.benchmarks;

import ai.djl.Device;
import ai.djl.pytorch.jni.JniUtils;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.bellows.engine.Admission;
import io.bellows.engine.EngineSettings;
import io.bellows.engine.Generation;
import io.bellows.engine.GenerationRequest;
import io.bellows.engine.InferenceEngine;
import io.bellows.engine.SamplingParams;
import io.bellows.model.Kernels;
import io.bellows.model.ModelConfig;
import io.bellows.model.Weights;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Sampling of one response for each of some prompts, all of one length, without an end token. */
@Command(
        name = "rollout",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        description =
                "Measures sampling in the engine, beside the rate of a matrix product before and after each round.")
final class RolloutBenchmark implements Callable<Integer> {

    @Option(names = "--size", defaultValue = "S", description = "${COMPLETION-CANDIDATES}")
    private ModelSize size;

    @Option(
            names = "--slots",
            defaultValue = "16",
            description = "Sequences decoded at once, each with a prompt of its own.")
    private int slots;

    @Option(names = "--prompt", defaultValue = "64", description = "Tokens of a prompt.")
    private int prompt;

    @Option(names = "--new", defaultValue = "128", description = "Tokens of a response.")
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
                InferenceEngine engine = new InferenceEngine(
                        kernels, weights, new EngineSettings(slots, prompt + response, 8192, Admission.CONTINUOUS))) {
            JniUtils.setNumThreads(threads);
            double[] seconds = new double[rounds];
            double[] products = new double[rounds + 1];
            for (int round = -1; round < rounds; round++) {
                products[Math.max(0, round)] = machine.sgemm().seconds();
                double elapsed = round(engine, config, round);
                if (round >= 0) {
                    seconds[round] = elapsed;
                }
            }
            products[rounds] = machine.sgemm().seconds();
            System.out.println(new ObjectMapper()
                    .createObjectNode()
                    .put("benchmark", "rollout")
                    .put("size", size.name())
                    .put("slots", slots)
                    .put("prompt", prompt)
                    .put("new", response)
                    .put("threads", threads)
                    .put("seconds", Machine.median(seconds))
                    .put("tokens_per_second", (double) slots * response / Machine.median(seconds))
                    .put("sgemm_gflops", Machine.sgemmFlops() / Machine.median(products) / 1e9)
                    .put("peak_rss_mb", Machine.megabytes("VmHWM")));
            return 0;
        }
    }

    private double round(InferenceEngine engine, ModelConfig config, int round) {
        Random random = new Random(round);
        List<GenerationRequest> requests = new ArrayList<>();
        for (int i = 0; i < slots; i++) {
            int[] ids = random.ints(prompt, 0, config.vocabularySize()).toArray();
            requests.add(
                    new GenerationRequest(ids, SamplingParams.sampled(1, response), new long[] {random.nextLong()}));
        }
        Stopwatch watch = Stopwatch.start();
        for (List<CompletableFuture<Generation>> group : engine.submitAll(requests)) {
            int tokens = group.get(0).join().ids().length;
            if (tokens != response) {
                throw new IllegalStateException(
                        "Cannot measure: a response has " + tokens + " tokens, not " + response);
            }
        }
        return watch.stop().seconds();
    }
}
