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

    /** The partition as verl makes it, and as it returns it, with the items of each part sorted. */
    static Stream<Golden.Case> reference() {
        Golden golden = Golden.of("verl_seqlen");
        return Stream.concat(golden.cases("get_seqlen_balanced_partitions"), golden.cases("karmarkar_karp"));
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
            assertThat(partition(sizes, k, equalSize)).containsExactlyElementsOf(sorted(golden.out("partitions")));
        }
    }

    static Stream<Golden.Case> greedy() {
        return Golden.of("verl_seqlen").cases("greedy_partition").filter(golden -> !golden.raised());
    }

    @ParameterizedTest
    @MethodSource("greedy")
    void heaviestPartIsNoHeavierThanThatOfTheGreedyPartition(Golden.Case golden) {
        long[] sizes = Arrays.stream(golden.ints("seqlen_list")).asLongStream().toArray();
        List<int[]> actual = partition(
                sizes,
                golden.arg("k_partitions").asInt(),
                golden.arg("equal_size").asBoolean());

        assertThat(heaviest(actual, sizes)).isLessThanOrEqualTo(heaviest(sorted(golden.out("partitions")), sizes));
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

    private static long heaviest(List<int[]> parts, long[] sizes) {
        return parts.stream()
                .mapToLong(part -> Arrays.stream(part).mapToLong(i -> sizes[i]).sum())
                .max()
                .getAsLong();
    }

    private static List<int[]> sorted(JsonNode partitions) {
        return StreamSupport.stream(partitions.spliterator(), false)
                .map(part -> Arrays.stream(Golden.ints(part)).sorted().toArray())
                .toList();
    }
}
