package io.bellows.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bellows.data.EpochOrder.Batch;
import io.bellows.data.EpochOrder.Remainder;
import io.bellows.data.EpochOrder.Shuffle;
import java.util.Arrays;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class EpochOrderTest {

    @Test
    void anEpochIsAPermutationThatDependsOnSeedAndEpochAlone() {
        EpochOrder order = new EpochOrder(100, 7, Shuffle.EACH_EPOCH, Remainder.DROP);
        long[] first = order.permutation(0);
        assertThat(Arrays.stream(first).sorted().toArray())
                .isEqualTo(LongStream.range(0, 100).toArray());
        assertThat(new EpochOrder(100, 7, Shuffle.EACH_EPOCH, Remainder.KEEP).permutation(0))
                .isEqualTo(first);
        assertThat(order.permutation(1)).isNotEqualTo(first);
        assertThat(new EpochOrder(100, 8, Shuffle.EACH_EPOCH, Remainder.DROP).permutation(0))
                .isNotEqualTo(first);
        // Seed + 1 must not replay the next epoch of this seed.
        assertThat(new EpochOrder(100, 8, Shuffle.EACH_EPOCH, Remainder.DROP).permutation(0))
                .isNotEqualTo(order.permutation(1));
    }

    @Test
    void thePermutationIsTheSameOnEveryPlatform() {
        assertThat(new EpochOrder(10, 1, Shuffle.EACH_EPOCH, Remainder.DROP).permutation(0))
                .containsExactly(2, 4, 3, 1, 5, 6, 9, 0, 7, 8);
    }

    @Test
    void batchesFollowTheCursorAndNeverCrossAnEpoch() {
        EpochOrder order = new EpochOrder(10, 1, Shuffle.NONE, Remainder.DROP);
        Batch first = order.batch(Cursor.START, 4);
        Batch second = order.batch(first.next(), 4);
        Batch third = order.batch(second.next(), 4);
        assertThat(first.rowIndices()).containsExactly(0, 1, 2, 3);
        assertThat(second.rowIndices()).containsExactly(4, 5, 6, 7);
        assertThat(second.next()).isEqualTo(new Cursor(0, 8));
        assertThat(third.rowIndices()).containsExactly(0, 1, 2, 3);
        assertThat(third.cursor()).isEqualTo(new Cursor(1, 0));
        assertThat(order.batchesPerEpoch(4)).isEqualTo(2);
    }

    @Test
    void theRemainderCanBeASmallerBatch() {
        EpochOrder order = new EpochOrder(10, 1, Shuffle.NONE, Remainder.KEEP);
        Batch last = order.batch(new Cursor(0, 8), 4);
        assertThat(last.rowIndices()).containsExactly(8, 9);
        assertThat(order.batch(last.next(), 4).cursor()).isEqualTo(new Cursor(1, 0));
        assertThat(order.batchesPerEpoch(4)).isEqualTo(3);
        assertThat(order.batch(Cursor.START, 64).rowIndices()).hasSize(10);
    }

    @Test
    void aBatchLargerThanTheDatasetIsRefused() {
        EpochOrder order = new EpochOrder(10, 1, Shuffle.NONE, Remainder.DROP);
        assertThatThrownBy(() -> order.batch(Cursor.START, 11))
                .hasMessage("Invalid data.train_batch_size=11: the dataset has 10 rows; lower it or give more data");
    }
}
