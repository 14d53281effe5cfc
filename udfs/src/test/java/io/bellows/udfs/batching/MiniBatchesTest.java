package io.bellows.udfs.batching;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class MiniBatchesTest {

    @Test
    void everyGroupIsInExactlyOneMiniBatch() {
        List<int[]> plan = MiniBatches.plan(64, 16, 42);

        assertThat(plan).hasSize(4).allSatisfy(batch -> assertThat(batch).hasSize(16));
        assertThat(plan.stream().flatMapToInt(Arrays::stream).sorted())
                .containsExactlyElementsOf(IntStream.range(0, 64).boxed().toList());
    }

    @Test
    void restIsSpreadOverTheMiniBatches() {
        assertThat(MiniBatches.plan(62, 16, 42).stream().map(batch -> batch.length))
                .containsExactly(16, 16, 15, 15);
        assertThat(MiniBatches.plan(3, 16, 42)).hasSize(1);
        assertThat(MiniBatches.plan(0, 16, 42)).isEmpty();
    }

    /** Resuming on another machine or Java version must make the same steps. */
    @Test
    void permutationOfASeedNeverChanges() {
        assertThat(MiniBatches.plan(8, 4, 1)).containsExactly(new int[] {1, 3, 5, 2}, new int[] {0, 6, 4, 7});
    }

    @Test
    void neighbouringSeedsGiveUnrelatedPermutations() {
        long distinctFirst = IntStream.range(0, 64)
                .map(seed -> MiniBatches.plan(64, 64, seed).get(0)[0])
                .distinct()
                .count();

        // 64 draws out of 64 hit 40 different ones on average.
        assertThat(distinctFirst).isBetween(30L, 52L);
    }

    @Test
    void sizeMustBePositive() {
        assertThatThrownBy(() -> MiniBatches.plan(4, 0, 1))
                .hasMessage("Invalid ppo_mini_batch_size 0: it must be at least 1");
    }
}
