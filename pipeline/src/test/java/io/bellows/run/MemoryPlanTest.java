package io.bellows.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.bellows.SparkTest;
import io.bellows.cluster.ExecutorMemory;
import io.bellows.config.BellowsConfig;
import io.bellows.config.InvalidConfigException;
import io.bellows.config.Purpose;
import io.bellows.model.Activations;
import io.bellows.model.ComputeType;
import io.bellows.model.GoldenModel;
import io.bellows.model.Head;
import io.bellows.model.ModelConfig;
import io.bellows.model.ModelMemory;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MemoryPlanTest extends SparkTest {

    private static final long GIB = 1L << 30;

    @TempDir
    private Path folder;

    @Test
    void thePartsOfADecoderAreThoseOfItsTensors() {
        ModelConfig shape = ModelConfig.read(GoldenModel.named("qwen2").folder());
        ModelMemory memory = new ModelMemory(shape, Head.TOKENS, ComputeType.FLOAT32, Activations.KEEP);
        ModelMemory half = new ModelMemory(shape, Head.TOKENS, ComputeType.BFLOAT16, Activations.KEEP);
        long scalars = shape.parameterCount();

        assertThat(memory.weights()).isEqualTo(4 * scalars);
        assertThat(half.weights()).isEqualTo(6 * scalars);
        assertThat(memory.gradients()).isEqualTo(4 * scalars);
        assertThat(memory.moments(2)).isEqualTo(4 * scalars);
        assertThat(memory.largestTensor()).isEqualTo(4L * shape.vocabularySize() * shape.hiddenSize());
        long position = 2L * shape.layers() * shape.keyValueHeads() * shape.headSize();
        assertThat(memory.cache(8, 99)).isEqualTo(8 * 100 * position * 4);
        assertThat(half.cache(8, 99)).isEqualTo(8 * 100 * position * 2);
    }

    @Test
    void recomputingAndSmallerBudgetsAndMoreRanksTakeLess() {
        long all = plan(1, "actor.ppo_mini_batch_size=8").bytes();

        assertThat(plan(1, "actor.ppo_mini_batch_size=8", "model.enable_gradient_checkpointing=true")
                        .bytes())
                .isLessThan(all);
        assertThat(plan(1, "actor.ppo_mini_batch_size=8", "actor.ppo_max_token_len_per_gpu=300")
                        .bytes())
                .isLessThan(all);
        assertThat(plan(4, "actor.ppo_mini_batch_size=8").bytes()).isLessThan(all);
        assertThat(plan(1, "critic.enable=true").parts()).containsKey("critic");
    }

    @Test
    void aRunThatCannotFitIsRefusedWithNumbersAndWhatWouldHelp() {
        BellowsConfig config = config("rollout.max_num_seqs=2000000000");

        assertThatExceptionOfType(InvalidConfigException.class)
                .isThrownBy(() -> new TrainLoop(spark, config, Progress.NONE).run())
                .withMessageContaining("Cannot start: executor driver needs at least ")
                .withMessageContaining("KV cache ")
                .withMessageContaining("rollout.max_num_seqs=1000000000 saves ")
                .withMessageContaining("trainer.memory_plan=warn");
        assertThat(folder.resolve("run")).as("nothing was started").doesNotExist();
        assertThat(MemoryCheck.of(
                        spark, config.with(List.of("trainer.memory_plan=warn")), Purpose.TRAIN, Progress.NONE))
                .contains("KV cache");
    }

    @Test
    void aContainerIsTheHeapAndItsOverhead() {
        MemoryCheck check = new MemoryCheck(config(), Purpose.TRAIN, 1);
        ExecutorMemory executor = new ExecutorMemory("1", "node", 64 * GIB, GIB, 0);
        SparkConf yarn = new SparkConf(false).set("spark.master", "yarn").set("spark.executor.memory", "1g");

        assertThat(executor.limit(yarn, 4)).isEqualTo(GIB + (384L << 20));
        assertThat(check.tight(executor, yarn, 4).orElseThrow())
                .contains("spark.executor.memoryOverhead=" + check.memoryOverhead());
        yarn.set("spark.executor.memoryOverhead", check.memoryOverhead());
        assertThat(check.tight(executor, yarn, 4)).isEmpty();
        assertThat(check.problem(executor, yarn, 4)).isEmpty();
    }

    @Test
    void executorsOfAMachineShareIt() {
        MemoryCheck check = new MemoryCheck(config(), Purpose.TRAIN, 4);
        ExecutorMemory executor = new ExecutorMemory("1", "node", 2 * GIB, GIB, 0);
        SparkConf standalone = new SparkConf(false).set("spark.master", "spark://node:7077");

        assertThat(check.problem(executor, standalone, 1)).isEmpty();
        assertThat(check.problem(executor, standalone, 4).orElseThrow()).contains("its share of node with 4 executors");
    }

    @Test
    void theHeapMustHoldTheLargestTensorAndAGpuTheTensors() {
        MemoryCheck check = new MemoryCheck(config(), Purpose.TRAIN, 1);
        SparkConf conf = new SparkConf(false);
        Optional<String> smallHeap = check.problem(new ExecutorMemory("1", "node", 64 * GIB, 1 << 20, 0), conf, 1);
        Optional<String> smallGpu = check.problem(new ExecutorMemory("1", "node", 64 * GIB, GIB, 1 << 10), conf, 1);

        assertThat(smallHeap.orElseThrow()).contains("spark.executor.memory", "has 1 MiB");
        assertThat(smallGpu.orElseThrow()).contains("of its GPU's 0 MiB");
        assertThat(check.problem(new ExecutorMemory("1", "node", 64 * GIB, GIB, -1), conf, 1))
                .as("a GPU that cannot be asked is not judged")
                .isEmpty();
    }

    private MemoryPlan plan(int ranks, String... overrides) {
        return MemoryPlan.of(config(overrides), Purpose.TRAIN, ranks);
    }

    private BellowsConfig config(String... overrides) {
        return TinyRun.config(
                folder.resolve("run"),
                TinyRun.with(List.of("data.train_batch_size=8", "actor.ppo_mini_batch_size=4"), overrides));
    }
}
