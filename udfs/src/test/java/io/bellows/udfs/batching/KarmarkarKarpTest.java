package io.bellows.udfs.batching;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.bellows.udfs.Golden;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class KarmarkarKarpTest {

    static Stream<Golden.Case> reference() {
        return Golden.of("verl_seqlen").cases("get_seqlen_balanced_partitions");
    }

    @ParameterizedTest
    @MethodSource("reference")
    void partitionsEqualVerl(Golden.Case golden) {
        long[] sizes = Arrays.stream(golden.ints("seqlen_list")).asLongStream().toArray();
        int k = golden.arg("k_partitions").asInt();
        boolean equalSize = golden.arg("equal_size").asBoolean();

        if (golden.raised()) {
            assertThatThrownBy(() -> partition(sizes, k, equalSize)).hasMessageStartingWith("Cannot split ");
        } else {
            assertThat(partition(sizes, k, equalSize)).containsExactlyElementsOf(lists(golden.out("partitions")));
        }
    }

    static Stream<Golden.Case> workloads() {
        return Golden.of("verl_seqlen").cases("calculate_workload");
    }

    @ParameterizedTest
    @MethodSource("workloads")
    void workloadEqualsVerl(Golden.Case golden) {
        long[] expected = StreamSupport.stream(golden.out("workload").spliterator(), false)
                .mapToLong(JsonNode::asLong)
                .toArray();

        assertThat(KarmarkarKarp.workloads(golden.ints("seqlen_list"))).containsExactly(expected);
    }

    @Test
    void workloadOfAVeryLongSequenceDoesNotOverflow() {
        assertThat(KarmarkarKarp.workload(1_000_000)).isEqualTo(1_024_576_000_000L);
    }

    private static List<int[]> partition(long[] sizes, int k, boolean equalSize) {
        return equalSize ? KarmarkarKarp.partitionEqualSize(sizes, k) : KarmarkarKarp.partition(sizes, k);
    }

    private static List<int[]> lists(JsonNode partitions) {
        return StreamSupport.stream(partitions.spliterator(), false)
                .map(Golden::ints)
                .toList();
    }
}
