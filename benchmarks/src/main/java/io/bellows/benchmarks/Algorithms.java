package io.bellows.benchmarks;

import io.bellows.udfs.advantage.AdvantageEstimator;
import io.bellows.udfs.advantage.Advantages;
import io.bellows.udfs.advantage.GaeAdvantage;
import io.bellows.udfs.advantage.GrpoAdvantage;
import io.bellows.udfs.advantage.Sample;
import io.bellows.udfs.batching.KarmarkarKarp;
import io.bellows.udfs.batching.MicroBatches;
import io.bellows.udfs.loss.ClipRange;
import io.bellows.udfs.loss.PolicyBatch;
import io.bellows.udfs.loss.PolicyLoss;
import io.bellows.udfs.loss.Sequences;
import io.bellows.udfs.loss.TokenLosses;
import io.bellows.udfs.loss.VanillaPolicyLoss;
import io.bellows.udfs.reward.AnswerPlace;
import io.bellows.udfs.reward.MathMatch;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** The algorithms that need no model, on a batch of 128 responses of 1 to 512 tokens, in groups of 8. For JMH. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class Algorithms {

    private static final int ROWS = 128;
    private static final int GROUP = 8;
    private static final int LONGEST = 512;

    private final AdvantageEstimator grpo = new GrpoAdvantage(GrpoAdvantage.Normalization.BY_STD);
    private final AdvantageEstimator gae = new GaeAdvantage(1, 0.95);
    private final PolicyLoss loss = new VanillaPolicyLoss(new ClipRange(0.2, 0.2), 3);
    private final MathMatch match = new MathMatch(AnswerPlace.AUTO);

    private int[] lengths;
    private long[] workloads;
    private List<List<Sample>> groups;
    private PolicyBatch batch;

    /** Draws the batch. */
    @Setup
    public void draw() {
        Random random = new Random(1);
        lengths = random.ints(ROWS, 1, LONGEST + 1).toArray();
        workloads = KarmarkarKarp.workloads(lengths);
        groups = IntStream.range(0, ROWS / GROUP)
                .mapToObj(group -> IntStream.range(group * GROUP, (group + 1) * GROUP)
                        .mapToObj(row -> sample(random, lengths[row]))
                        .toList())
                .toList();
        batch = policyBatch(random);
    }

    private static Sample sample(Random random, int length) {
        boolean[] mask = new boolean[length];
        Arrays.fill(mask, true);
        double[] rewards = new double[length];
        rewards[length - 1] = random.nextInt(2);
        return Sample.of(rewards[length - 1], rewards, mask)
                .values(random.doubles(length).toArray())
                .build();
    }

    private PolicyBatch policyBatch(Random random) {
        int[] bounds = new int[ROWS + 1];
        for (int row = 0; row < ROWS; row++) {
            bounds[row + 1] = bounds[row] + lengths[row];
        }
        int tokens = bounds[ROWS];
        boolean[] mask = new boolean[tokens];
        Arrays.fill(mask, true);
        return PolicyBatch.of(Sequences.of(bounds, mask))
                .logProbs(random.doubles(tokens, -2, 0).toArray())
                .oldLogProbs(random.doubles(tokens, -2, 0).toArray())
                .advantages(random.doubles(tokens, -1, 1).toArray())
                .build();
    }

    /** GRPO's advantages of the batch. */
    @Benchmark
    public List<List<Advantages>> grpo() {
        return grpo.estimateBatch(groups);
    }

    /** GAE of the batch, whitened. */
    @Benchmark
    public List<List<Advantages>> gae() {
        return gae.estimateBatch(groups);
    }

    /** The clipped policy loss of each token and its derivative. */
    @Benchmark
    public TokenLosses policyLoss() {
        return loss.tokenLosses(batch);
    }

    /** The rows dealt to eight ranks of nearly equal work. */
    @Benchmark
    public List<int[]> ranks() {
        return KarmarkarKarp.partition(workloads, 8);
    }

    /** The rows cut into micro-batches of 4,096 tokens. */
    @Benchmark
    public List<int[]> microBatches() {
        return MicroBatches.plan(lengths, 4096);
    }

    /** A fraction held against a decimal number. */
    @Benchmark
    public double mathMatch() {
        return match.score("Half of three is \\boxed{\\frac{3}{2}}.", List.of("1.5"));
    }
}
