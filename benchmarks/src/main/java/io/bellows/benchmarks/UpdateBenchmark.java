package io.bellows.benchmarks;

import ai.djl.Device;
import ai.djl.pytorch.jni.JniUtils;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.model.Activations;
import io.bellows.model.ComputeType;
import io.bellows.model.Decoder;
import io.bellows.model.ForwardPass;
import io.bellows.model.Gradients;
import io.bellows.model.Head;
import io.bellows.model.Kernels;
import io.bellows.model.ModelConfig;
import io.bellows.model.ModelMemory;
import io.bellows.model.PackedSequences;
import io.bellows.model.Weights;
import io.bellows.run.MemoryPlan;
import io.bellows.training.AdamW;
import java.util.Arrays;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Optimizer steps on sequences of one length: forward, backward, gradient norm, AdamW. */
@Command(
        name = "update",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        description = "Measures optimizer steps, beside the rate of a matrix product before and after each.")
final class UpdateBenchmark implements Callable<Integer> {

    @Option(names = "--size", defaultValue = "S", description = "${COMPLETION-CANDIDATES}")
    private ModelSize size;

    @Option(names = "--vocabulary", defaultValue = "0", description = "Another vocabulary than the size's; 0: its own.")
    private int vocabulary;

    @Option(names = "--sequences", defaultValue = "8", description = "Sequences of a step.")
    private int sequences;

    @Option(names = "--length", defaultValue = "256", description = "Tokens of a sequence.")
    private int length;

    @Option(names = "--activations", defaultValue = "KEEP", description = "${COMPLETION-CANDIDATES}")
    private Activations activations;

    @Option(names = "--threads", defaultValue = "1", description = "Native threads.")
    private int threads;

    @Option(names = "--warmup", defaultValue = "2", description = "Steps before the measured ones.")
    private int warmup;

    @Option(names = "--steps", defaultValue = "5", description = "Measured steps.")
    private int steps;

    @Override
    public Integer call() {
        ModelConfig config = size.config(vocabulary);
        try (Kernels kernels = Kernels.load(Device.cpu());
                Machine machine = new Machine(kernels);
                Weights weights = Weights.random(kernels, config, 1);
                Decoder decoder = new Decoder(kernels, config, length, activations);
                Gradients gradients = Gradients.of(kernels, weights);
                AdamW optimizer = new AdamW(kernels, weights, new AdamW.Settings(0.9, 0.999, 1e-8, 0.01))) {
            JniUtils.setNumThreads(threads);
            Rate rate = Rate.ofRounds(steps);
            ArrayNode resident = new ObjectMapper().createArrayNode();
            for (int step = -warmup; step < steps; step++) {
                PackedSequences batch = shape().random(config, step);
                rate.products()[Math.max(0, step)] = machine.sgemm();
                Stopwatch watch = Stopwatch.start();
                step(decoder, weights, gradients, optimizer, batch);
                if (step >= 0) {
                    rate.times()[step] = watch.stop();
                }
                resident.add(Machine.megabytes("VmRSS"));
            }
            rate.products()[steps] = machine.sgemm();
            ObjectNode result = result(config, rate);
            result.set("rss_mb", resident);
            System.out.println(result);
            return 0;
        }
    }

    static void step(Decoder decoder, Weights weights, Gradients gradients, AdamW optimizer, PackedSequences batch) {
        gradients.zero();
        try (ForwardPass pass = decoder.forward(weights, batch, 1.0)) {
            float[] dLogProb = new float[batch.targets().length];
            Arrays.fill(dLogProb, -1f / dLogProb.length);
            pass.backward(gradients, dLogProb, new float[dLogProb.length]);
        }
        gradients.scale(1 / Math.max(1, gradients.norm()));
        optimizer.step(gradients, 1e-5);
    }

    private SequenceBatch shape() {
        return new SequenceBatch(sequences, length);
    }

    private ObjectNode result(ModelConfig config, Rate rate) {
        ObjectNode result = new ObjectMapper()
                .createObjectNode()
                .put("benchmark", "update")
                .put("size", size.name())
                .put("vocabulary", config.vocabularySize())
                .put("parameters", config.parameterCount())
                .put("sequences", sequences)
                .put("length", length)
                .put("activations", activations.name())
                .put("threads", threads)
                .put("tokens_per_second", shape().tokens() / rate.seconds());
        rate.put(result, 3 * shape().forwardFlops(config), threads); // what is computed twice counts once
        return result.put("peak_rss_mb", Machine.megabytes("VmHWM"))
                .put("planned_mb", planned(config).bytes() >> 20);
    }

    /** What the memory plan of a run says of such a step, beside the Java heap. */
    private MemoryPlan planned(ModelConfig config) {
        ModelMemory memory = new ModelMemory(config, Head.TOKENS, ComputeType.FLOAT32, activations);
        return MemoryPlan.training(memory, 1, shape().tokens());
    }
}
