package io.bellows.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;

class ClusterTest {

    private static SparkConf conf(String... properties) {
        SparkConf conf = new SparkConf(false);
        for (String property : properties) {
            conf.set(property.substring(0, property.indexOf('=')), property.substring(property.indexOf('=') + 1));
        }
        return conf;
    }

    private static Rendezvous.Member member(int task, String executor, int inMemory) {
        return new Rendezvous.Member(task, "host", 1000 + task, 0, executor, "cpu()", 1, inMemory);
    }

    @Test
    void aGpuThatSparkCannotAssignIsRefused() {
        assertThat(Cluster.errors(conf("spark.master=local[4]", "spark.task.resource.gpu.amount=1")))
                .singleElement()
                .asString()
                .startsWith("Unsupported spark.task.resource.gpu.amount = 1 with spark.master = local[4]")
                .contains("wait for ever");
        assertThat(Cluster.errors(conf("spark.master=local-cluster[2,1,1024]", "spark.task.resource.gpu.amount=1")))
                .isEmpty();
        assertThat(Cluster.errors(conf("spark.master=local[4]"))).isEmpty();
    }

    @Test
    void whatExcludesABarrierStageOrRepeatsARolloutIsRefused() {
        assertThat(Cluster.errors(conf("spark.dynamicAllocation.enabled=true", "spark.speculation=true")))
                .hasSize(2)
                .anyMatch(error -> error.startsWith("Unsupported spark.dynamicAllocation.enabled = true"))
                .anyMatch(error -> error.startsWith("Unsupported spark.speculation = true"));
    }

    @Test
    void aKilledExecutorIsWaitedForUntilItIsReplaced() {
        List<String> told = new ArrayList<>();
        List<Duration> waited = new ArrayList<>();
        ExecutorWait wait = new ExecutorWait(Duration.ofMinutes(2), waited::add, told::add);
        assertThat(wait.await(4, () -> waited.size() < 3 ? 3 : 4)).isEqualTo(4);
        assertThat(waited).as("it goes on as soon as it can").hasSize(3);
        assertThat(told).containsExactly("waiting up to 120 s for executors: the update has 4 ranks, and there are 3");
    }

    @Test
    void executorsThatDoNotComeAreGivenUpAfterTheTimeThatSparkGivesThem() {
        List<Duration> waited = new ArrayList<>();
        Duration patience =
                Cluster.patience(conf("spark.master=yarn", "spark.scheduler.maxRegisteredResourcesWaitingTime=30s"));
        assertThat(new ExecutorWait(patience, waited::add, line -> {}).await(2, () -> 1))
                .isEqualTo(1);
        assertThat(waited.stream().reduce(Duration.ZERO, Duration::plus)).isEqualTo(Duration.ofSeconds(30));
    }

    @Test
    void nothingIsWaitedForWhereNoExecutorCanCome() {
        assertThat(Cluster.patience(conf("spark.master=local[4]"))).isZero();
        assertThat(Cluster.patience(conf("spark.master=yarn"))).isEqualTo(Duration.ofMinutes(2));
    }

    @Test
    void rolloutTasksSpreadLongTailsAndKeepEnginesFull() {
        assertThat(Cluster.rolloutTasks(0, 256, 64)).isEqualTo(1);
        assertThat(Cluster.rolloutTasks(1, 4096, 64)).isEqualTo(1);
        assertThat(Cluster.rolloutTasks(4, 256, 256)).isEqualTo(4);
        assertThat(Cluster.rolloutTasks(4, 640, 64)).isEqualTo(10);
        assertThat(Cluster.rolloutTasks(4, 100_000, 64)).isEqualTo(16);
    }

    @Test
    void anExecutorKeepsItsShareOfTheOptimizerStateWhereItCan() {
        List<Rendezvous.Member> inOrder = Rendezvous.inOrder(
                List.of(member(0, "a", 2), member(1, "b", -1), member(2, "c", 2), member(3, "d", 0)));
        assertThat(inOrder).extracting(Rendezvous.Member::executor).containsExactly("d", "b", "a", "c");
    }

    @Test
    void twoRanksOnOneExecutorAreRefused() {
        assertThatThrownBy(() -> Rendezvous.refuseIfUnfit(List.of(member(0, "1", -1), member(1, "1", -1))))
                .hasMessageStartingWith("Cannot update on 2 ranks: executor 1 was given two of them")
                .hasMessageContaining("spark.executor.cores");
    }
}
