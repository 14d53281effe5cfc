package io.bellows.engine;

import ai.djl.Device;
import io.bellows.model.GoldenModel;
import io.bellows.model.Kernels;
import io.bellows.model.Weights;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** Engines over the tiny Qwen2 model whose greedy generations transformers computed. */
abstract class GoldenEngine {

    static Kernels kernels;
    static Weights weights;
    static List<int[]> prompts;

    @BeforeAll
    static void load() {
        kernels = Kernels.load(Device.cpu());
        GoldenModel golden = GoldenModel.named("qwen2");
        weights = Weights.load(kernels, golden.folder());
        prompts =
                IntStream.range(0, 4).mapToObj(i -> ints(golden, "prompts", i)).toList();
    }

    @AfterAll
    static void close() {
        weights.close();
        kernels.close();
    }

    static int[] ints(GoldenModel golden, String table, int row) {
        List<Integer> values = new ArrayList<>();
        golden.values().path("greedy").path(table).get(row).forEach(v -> values.add(v.asInt()));
        return values.stream().mapToInt(Integer::intValue).toArray();
    }

    static InferenceEngine engine(int slots, int prefillChunk, Admission admission) {
        return new InferenceEngine(kernels, weights, new EngineSettings(slots, 128, prefillChunk, admission));
    }

    static GenerationRequest request(int prompt, SamplingParams sampling, long... seeds) {
        return new GenerationRequest(prompts.get(prompt), sampling, seeds);
    }

    static List<Generation> join(List<CompletableFuture<Generation>> futures) {
        return futures.stream().map(CompletableFuture::join).toList();
    }

    static List<Generation> joinAll(List<List<CompletableFuture<Generation>>> futures) {
        return futures.stream().flatMap(f -> join(f).stream()).toList();
    }
}
