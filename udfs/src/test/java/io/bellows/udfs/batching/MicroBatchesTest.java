package io.bellows.udfs.batching;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bellows.udfs.Golden;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class MicroBatchesTest {

    static Stream<Golden.Case> reference() {
        return Golden.of("verl_seqlen").cases("rearrange_micro_batches");
    }

    @ParameterizedTest
    @MethodSource("reference")
    void compositionAndOrderEqualVerlWhereVerlKeepsTheBudget(Golden.Case golden) {
        int[] lengths = golden.ints("seqlens");
        int budget = golden.arg("max_token_len").asInt();
        if (golden.raised()) {
            assertThatThrownBy(() -> MicroBatches.plan(lengths, budget)).isInstanceOf(OversizeSequenceException.class);
            return;
        }
        List<int[]> actual = MicroBatches.plan(lengths, budget, minimum(golden, lengths, budget));

        assertComplete(actual, lengths, budget);
        int largest = Arrays.stream(Golden.ints(golden.out("tokens_per_micro_batch")))
                .max()
                .getAsInt();
        List<int[]> expected = StreamSupport.stream(
                        golden.out("micro_batch_indices").spliterator(), false)
                .map(Golden::ints)
                .toList();
        if (largest <= budget && golden.has("use_dynamic_bsz_balance")) {
            // Without the balance verl makes the same micro-batches in another order.
            assertThat(actual).containsExactlyInAnyOrderElementsOf(expected);
        } else if (largest <= budget) {
            assertThat(actual).containsExactlyElementsOf(expected);
        } else {
            // The deliberate difference: more micro-batches instead of larger ones.
            assertThat(actual).hasSizeGreaterThan(expected.size());
        }
    }

    private static int minimum(Golden.Case golden, int[] lengths, int budget) {
        int minimum = golden.arg("min_num_micro_batch").asInt(1);
        int divisor = golden.arg("num_batches_divided_by").asInt(1);
        int count = Math.max(minimum, (Arrays.stream(lengths).sum() + budget - 1) / budget);
        return (count + divisor - 1) / divisor * divisor;
    }

    @Test
    void budgetIsHardWhereVerlExceedsIt() {
        int[] lengths = {7, 41, 13, 51, 50, 20, 46, 62, 34, 46, 51, 46};

        List<int[]> plan = MicroBatches.plan(lengths, 62);

        // verl: eight micro-batches, of which one has 75 tokens.
        assertThat(plan).hasSize(9);
        assertComplete(plan, lengths, 62);
    }

    @Test
    void oversizeSequenceIsNamed() {
        assertThatThrownBy(() -> MicroBatches.plan(new int[] {5, 101, 3}, 100))
                .isInstanceOfSatisfying(
                        OversizeSequenceException.class,
                        e -> assertThat(e.sequence()).isEqualTo(1))
                .hasMessageStartingWith(
                        "Cannot fit sequence 1 of 101 tokens into a micro-batch of at most 100 tokens: raise");
    }

    @Test
    void randomLengthsAreCompleteAndWithinTheBudget() {
        Random random = new Random(3);
        for (int trial = 0; trial < 50; trial++) {
            int[] lengths = random.ints(1 + random.nextInt(200), 1, 257).toArray();
            int budget = 256 + random.nextInt(1000);
            assertComplete(MicroBatches.plan(lengths, budget), lengths, budget);
        }
    }

    @Test
    void sequencesJustOverAThirdOfTheBudgetGoInPairs() {
        int[] lengths = IntStream.generate(() -> 400).limit(600).toArray();

        assertThat(MicroBatches.plan(lengths, 1000)).hasSize(300);
    }

    @Test
    void atLeastTheMinimumIsMade() {
        assertThat(MicroBatches.plan(new int[] {1, 1, 1}, 100, 2)).hasSize(2);
        assertThatThrownBy(() -> MicroBatches.plan(new int[] {1}, 100, 2))
                .hasMessage("Cannot make 2 micro-batches of 1 sequences");
    }

    @Test
    void noSequenceMakesNoMicroBatch() {
        assertThat(MicroBatches.plan(new int[0], 100)).isEmpty();
        assertThat(MicroBatches.fixed(0, 4)).isEmpty();
    }

    @Test
    void fixedMicroBatchesKeepTheOrder() {
        assertThat(MicroBatches.fixed(5, 2)).containsExactly(new int[] {0, 1}, new int[] {2, 3}, new int[] {4});
        assertThatThrownBy(() -> MicroBatches.fixed(5, 0))
                .hasMessage("Invalid micro-batch size 0: it must be at least 1");
    }

    private static void assertComplete(List<int[]> plan, int[] lengths, int budget) {
        assertThat(plan.stream().flatMapToInt(Arrays::stream).sorted())
                .containsExactlyElementsOf(
                        IntStream.range(0, lengths.length).boxed().toList());
        assertThat(plan).allSatisfy(batch -> {
            assertThat(batch).isNotEmpty();
            assertThat(Arrays.stream(batch).map(i -> lengths[i]).sum()).isLessThanOrEqualTo(budget);
        });
    }
}
