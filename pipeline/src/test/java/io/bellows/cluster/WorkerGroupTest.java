package io.bellows.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.bellows.SparkTest;
import io.bellows.run.FailureMessage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WorkerGroupTest extends SparkTest {

    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final DispatchModes MODES = DispatchModes.standard().with("LAST_RANK", new LastRank());

    /** What the ranks of these tests do. */
    interface Greeter {
        @Register(dispatch = DispatchModes.ONE_TO_ALL)
        List<String> greet(String name);

        @Register(dispatch = DispatchModes.ONE_TO_ALL)
        void sign(String folder);

        @Register(dispatch = DispatchModes.RANK_ZERO)
        String describe();

        @Register(dispatch = DispatchModes.DP_COMPUTE)
        List<String> greetEach(List<String> names, List<Integer> times);

        @Register(dispatch = DispatchModes.DP_COMPUTE_PROTO)
        List<String> greetRows(String greeting, RankRows names);

        @Register(dispatch = DispatchModes.ONE_TO_ALL, blocking = false)
        CompletableFuture<List<String>> greetLater(String name);

        @Register(dispatch = DispatchModes.ONE_TO_ALL)
        List<Integer> meet();

        @Register(dispatch = DispatchModes.RANK_ZERO)
        int meetAlone();

        @Register(dispatch = "LAST_RANK")
        String greetLast(String name);
    }

    /** One of them. */
    private record Rank(Rendezvous ranks) implements Greeter {

        private String hello(String name) {
            if (name.equals("nobody") && ranks.rank() == 1) {
                throw new IllegalStateException("Cannot greet " + name + " from rank " + ranks.rank());
            }
            return "rank " + ranks.rank() + " of " + ranks.ranks() + " greets " + name;
        }

        @Override
        public List<String> greet(String name) {
            return List.of(hello(name));
        }

        @Override
        public void sign(String folder) {
            try {
                Files.createFile(Path.of(folder, "rank-" + ranks.rank()));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public String describe() {
            return ranks.rank() + ": " + TaskContext.get().getLocalProperty("spark.job.description");
        }

        @Override
        public List<String> greetEach(List<String> names, List<Integer> times) {
            return names.stream().map(name -> hello(name) + " x" + times).toList();
        }

        @Override
        public List<String> greetRows(String greeting, RankRows names) {
            List<String> said = new ArrayList<>();
            names.iterator().forEachRemaining(row -> said.add(ranks.rank() + greeting + row.getAs("name")));
            return said;
        }

        @Override
        public CompletableFuture<List<String>> greetLater(String name) {
            return CompletableFuture.completedFuture(greet(name));
        }

        @Override
        public List<Integer> meet() {
            return List.of(ranks.join(-1).size());
        }

        @Override
        public int meetAlone() {
            return ranks.join(-1).size();
        }

        @Override
        public String greetLast(String name) {
            return hello(name);
        }
    }

    /** A mode of one's own. */
    private static final class LastRank implements DispatchMode {
        @Override
        public Optional<String> problem(Method method, Class<?> returned) {
            return returned == String.class ? Optional.empty() : Optional.of("return a String");
        }

        @Override
        public List<Object[]> deal(List<Object> arguments, int ranks) {
            List<Object[]> dealt = new ArrayList<>(Collections.nCopies(ranks, null));
            dealt.set(ranks - 1, arguments.toArray());
            return dealt;
        }

        @Override
        public Object collect(List<Object> results) {
            return results.get(0);
        }
    }

    private static Greeter two() {
        return new WorkerGroup(spark, 2, PATIENCE, MODES).workers(Greeter.class, Rank::new);
    }

    private static Dataset<Row> names(String... sql) {
        return spark.sql("SELECT * FROM VALUES " + String.join(", ", sql) + " AS t(name, rank, place)");
    }

    @Test
    void allRanksGetTheSameArguments() {
        assertThat(two().greet("Ada")).containsExactly("rank 0 of 2 greets Ada", "rank 1 of 2 greets Ada");
    }

    @Test
    void aMethodNeedNotReturnAnything(@TempDir Path folder) {
        two().sign(folder.toString());
        assertThat(folder.toFile().list()).containsExactlyInAnyOrder("rank-0", "rank-1");
    }

    @Test
    void onlyRankZeroRunsInAJobOfTheCallsName() {
        SparkContext context = spark.sparkContext();
        context.setJobDescription("the caller's");
        try {
            assertThat(two().describe()).isEqualTo("0: Greeter.describe on 2 ranks");
            assertThat(context.getLocalProperty("spark.job.description")).isEqualTo("the caller's");
        } finally {
            context.setJobDescription(null);
        }
    }

    @Test
    void eachRankGetsItsItem() {
        assertThat(two().greetEach(List.of("Ada", "Bo"), Arrays.asList(7, null)))
                .containsExactly("rank 0 of 2 greets Ada x[7]", "rank 1 of 2 greets Bo x[null]");
        assertThatThrownBy(() -> two().greetEach(List.of("Ada", "Bo", "Cy"), List.of(1, 2)))
                .hasMessage(
                        "Cannot call Greeter.greetEach: it has an argument of 3 items for 2 ranks; give an item for each rank");
    }

    @Test
    void aDatasetIsSplitAndTheResultsAreConcatenated() {
        Dataset<Row> rows = names("('c', 1, 2)", "('a', 0, 5)", "('b', 1, 1)", "('d', 0, 3)");
        assertThat(two().greetRows(":", RankRows.dealt(rows, "rank", "place")))
                .containsExactly("0:d", "0:a", "1:b", "1:c");
        assertThat(two().greetRows(":", RankRows.of(rows)))
                .as("two to each")
                .hasSize(4)
                .filteredOn(name -> name.startsWith("0"))
                .hasSize(2);
    }

    @Test
    void callsThatTheDriverDoesNotWaitForRunInTheirOrder() throws Exception {
        Greeter greeter = two();
        CompletableFuture<List<String>> first = greeter.greetLater("Ada");
        CompletableFuture<List<String>> second = greeter.greetLater("Bo");
        assertThat(greeter.greet("Cy")).hasSize(2);
        assertThat(first).isCompleted();
        assertThat(second).isCompleted();
        assertThat(second.get(1, TimeUnit.SECONDS)).containsExactly("rank 0 of 2 greets Bo", "rank 1 of 2 greets Bo");
    }

    @Test
    void theErrorOfARankReachesTheDriverAndTheGroupGoesOn() {
        Greeter greeter = two();
        Throwable blocking = catchThrowable(() -> greeter.greet("nobody"));
        assertThat(blocking).isInstanceOf(RankFailure.class).hasMessageStartingWith("Greeter.greet on 2 ranks failed");
        assertThat(FailureMessage.of(blocking)).isEqualTo("Cannot greet nobody from rank 1");

        CompletableFuture<List<String>> later = greeter.greetLater("nobody");
        assertThat(greeter.greet("Ada")).hasSize(2);
        assertThatThrownBy(later::join)
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(RankFailure.class)
                .satisfies(e -> assertThat(FailureMessage.of(e)).isEqualTo("Cannot greet nobody from rank 1"));
    }

    @Test
    void ranksThatCannotMeetSayWhy() {
        assertThat(FailureMessage.of(catchThrowable(() -> two().meet())))
                .startsWith("Cannot update on 2 ranks: executor driver was given two of them");
        assertThat(FailureMessage.of(catchThrowable(() -> two().meetAlone())))
                .isEqualTo("Cannot meet the other ranks: 1 of 2 take part in this call;"
                        + " register the method with DispatchModes.ONE_TO_ALL");
        assertThat(new WorkerGroup(spark, 1, PATIENCE, MODES)
                        .workers(Greeter.class, Rank::new)
                        .meet())
                .containsExactly(1);
    }

    @Test
    void aModeOfOnesOwnIsDispatchedByItsName() {
        assertThat(two().greetLast("Ada")).isEqualTo("rank 1 of 2 greets Ada");
        assertThatThrownBy(() -> MODES.with("LAST_RANK", new LastRank()))
                .hasMessage("Cannot register the dispatch mode LAST_RANK: there is one of that name; choose another");
    }

    /** Everything about it is wrong. */
    interface Misfit {
        List<String> unsaid();

        @Register(dispatch = "LAST_RANK")
        List<String> unknown();

        @Register(dispatch = DispatchModes.ONE_TO_ALL)
        int number();

        @Register(dispatch = DispatchModes.ONE_TO_ALL, blocking = false)
        List<String> waiting();

        @Register(dispatch = DispatchModes.RANK_ZERO)
        CompletableFuture<String> promised();

        @Register(dispatch = DispatchModes.DP_COMPUTE, blocking = false)
        CompletableFuture<Void> item(String name);

        @Register(dispatch = DispatchModes.DP_COMPUTE_PROTO)
        void noRows(List<String> names);

        @Register(dispatch = DispatchModes.ONE_TO_ALL, blocking = false)
        CompletableFuture<String> one(RankRows rows);
    }

    @Test
    void aSignatureThatDoesNotFitIsRefusedWithMethodModeAndRemedy() {
        Throwable refused =
                catchThrowable(() -> new WorkerGroup(spark, 2, PATIENCE).workers(Misfit.class, ranks -> null));
        assertThat(refused).isInstanceOf(IllegalArgumentException.class);
        assertThat(refused.getMessage().lines())
                .containsExactlyInAnyOrder(
                        "Cannot dispatch Misfit.unsaid: nothing says how; annotate it with @Register(dispatch = ...)",
                        "Cannot dispatch Misfit.unknown by LAST_RANK: there is no such mode; there are DP_COMPUTE,"
                                + " DP_COMPUTE_PROTO, ONE_TO_ALL, RANK_ZERO, and DispatchModes.with registers others",
                        "Cannot dispatch Misfit.number by ONE_TO_ALL: it returns int, of which there is one for each rank;"
                                + " return a List, to which each rank gives its part, or void; DispatchModes.RANK_ZERO"
                                + " returns anything",
                        "Cannot dispatch Misfit.waiting by ONE_TO_ALL: it is not blocking; return a CompletableFuture, or"
                                + " leave out blocking = false",
                        "Cannot dispatch Misfit.promised by RANK_ZERO: it returns a CompletableFuture and is blocking; add"
                                + " blocking = false",
                        "Cannot dispatch Misfit.item by DP_COMPUTE: it has an argument of type String; make it a List with"
                                + " an item for each rank, or register it with DispatchModes.ONE_TO_ALL",
                        "Cannot dispatch Misfit.noRows by DP_COMPUTE_PROTO: it has 0 arguments of type RankRows; give it"
                                + " one, or register it with DispatchModes.ONE_TO_ALL",
                        "Cannot dispatch Misfit.one by ONE_TO_ALL: it has an argument of type RankRows, which is split;"
                                + " register it with DispatchModes.DP_COMPUTE_PROTO");
    }
}
