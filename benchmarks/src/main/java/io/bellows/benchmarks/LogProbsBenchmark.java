package io.bellows.benchmarks;

import ai.djl.Device;
import ai.djl.pytorch.jni.JniUtils;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.model.Decoder;
import io.bellows.model.Kernels;
import io.bellows.model.ModelConfig;
import io.bellows.model.PackedSequences;
import io.bellows.model.Weights;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Log-probs of sequences of one length, as the passes before an update compute them. */
@Command(
        name = "log-probs",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        description = "Measures log-probs of given tokens, beside the rate of a matrix product before and after each.")
final class LogProbsBenchmark implements Callable<Integer> {

    @Option(names = "--size", defaultValue = "S", description = "${COMPLETION-CANDIDATES}")
    private ModelSize size;

    @Option(names = "--sequences", defaultValue = "8", description = "Sequences of a pass.")
    private int sequences;

    @Option(names = "--length", defaultValue = "256", description = "Tokens of a sequence.")
    private int length;

    @Option(names = "--threads", defaultValue = "1", description = "Native threads.")
    private int threads;

    @Option(names = "--warmup", defaultValue = "2", description = "Passes before the measured ones.")
    private int warmup;

    @Option(names = "--rounds", defaultValue = "7", description = "Measured passes.")
    private int rounds;

    @Override
    public Integer call() {
        ModelConfig config = size.config(0);
        SequenceBatch shape = new SequenceBatch(sequences, length);
        try (Kernels kernels = Kernels.load(Device.cpu());
                Machine machine = new Machine(kernels);
                Weights weights = Weights.random(kernels, config, 1);
                Decoder decoder = new Decoder(kernels, config, length)) {
            JniUtils.setNumThreads(threads);
            Rate rate = Rate.ofRounds(rounds);
            for (int round = -warmup; round < rounds; round++) {
                PackedSequences batch = shape.random(config, round);
                rate.products()[Math.max(0, round)] = machine.sgemm();
                Stopwatch watch = Stopwatch.start();
                decoder.score(weights, batch, 1.0);
                if (round >= 0) {
                    rate.times()[round] = watch.stop();
                }
            }
            rate.products()[rounds] = machine.sgemm();
            ObjectNode result = new ObjectMapper()
                    .createObjectNode()
                    .put("benchmark", "log-probs")
                    .put("size", size.name())
                    .put("sequences", sequences)
                    .put("length", length)
                    .put("threads", threads)
                    .put("tokens_per_second", shape.tokens() / rate.seconds());
            rate.put(result, shape.forwardFlops(config), threads);
            System.out.println(result.put("peak_rss_mb", Machine.megabytes("VmHWM")));
            return 0;
        }
    }
}
