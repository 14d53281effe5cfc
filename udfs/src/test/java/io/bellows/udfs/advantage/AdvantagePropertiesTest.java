package io.bellows.udfs.advantage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.bellows.udfs.advantage.GrpoAdvantage.Normalization;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What holds for every estimator, on random batches. */
class AdvantagePropertiesTest {

    private static final int TRIALS = 20;
    private static final AdvantageRegistry.Settings SETTINGS =
            new AdvantageRegistry.Settings(Normalization.BY_STD, 0.9, 0.8, List.of(1.0, 0.5));

    static Stream<String> all() {
        return AdvantageRegistry.names().stream();
    }

    /** optimal_token_baseline compares positions, which tokens of tools shift: why verl has the other one for several turns. */
    static Stream<String> indifferentToTools() {
        return all().filter(name -> !name.equals("optimal_token_baseline"));
    }

    /** One trajectory in its parts, so that a test can take it apart. */
    private record Row(
            double score, double[] rewards, boolean[] mask, double[][] perToken, double[] byKey, double base) {

        static Row random(Random random) {
            int length = random.nextInt(9);
            boolean[] mask = new boolean[length];
            for (int t = 0; t < length; t++) {
                mask[t] = random.nextInt(4) > 0;
            }
            double[] rewards = doubles(random, length);
            double[][] perToken = {
                doubles(random, length),
                Arrays.stream(doubles(random, length)).map(x -> -Math.abs(x)).toArray(),
                Arrays.stream(doubles(random, length))
                        .map(x -> 1 / (1 + Math.abs(x)))
                        .toArray(),
            };
            double score = Arrays.stream(rewards).sum() + random.nextInt(2);
            return new Row(score, rewards, mask, perToken, doubles(random, 2), random.nextGaussian());
        }

        private static double[] doubles(Random random, int length) {
            return DoubleStream.generate(random::nextGaussian).limit(length).toArray();
        }

        Row withScore(double other) {
            return new Row(other, rewards, mask, perToken, byKey, base);
        }

        /** Puts an unsampled token, with whatever may stand there, before {@code place}. */
        Row withToolToken(int place) {
            boolean[] longer = new boolean[mask.length + 1];
            for (int t = 0; t < longer.length; t++) {
                longer[t] = t != place && mask[t < place ? t : t - 1];
            }
            return new Row(
                    score,
                    inserted(rewards, place, 0),
                    longer,
                    Arrays.stream(perToken)
                            .map(values -> inserted(values, place, Double.NaN))
                            .toArray(double[][]::new),
                    byKey,
                    base);
        }

        private static double[] inserted(double[] values, int place, double value) {
            return IntStream.range(0, values.length + 1)
                    .mapToDouble(t -> t == place ? value : values[t < place ? t : t - 1])
                    .toArray();
        }

        Sample sample() {
            return Sample.of(score, rewards, mask)
                    .values(perToken[0])
                    .logProbs(perToken[1])
                    .squaredProbabilities(perToken[2])
                    .rewards(byKey)
                    .baseline(base)
                    .build();
        }
    }

    @ParameterizedTest
    @MethodSource("indifferentToTools")
    void insertingToolTokensChangesNoSampledToken(String name) {
        forRandomBatches((random, batch) -> {
            List<List<Row>> longer = batch.stream()
                    .map(group -> group.stream()
                            .map(row -> row.withToolToken(random.nextInt(row.mask().length + 1)))
                            .map(row -> row.withToolToken(row.mask().length))
                            .toList())
                    .toList();
            assertClose(sampledOnly(longer, estimate(name, longer)), sampledOnly(batch, estimate(name, batch)));
        });
    }

    @ParameterizedTest
    @MethodSource("all")
    void aFailedRowChangesNothingButItsOwnAbsence(String name) {
        forRandomBatches((random, batch) -> {
            List<List<Row>> more = new ArrayList<>();
            for (List<Row> group : batch) {
                List<Row> members = new ArrayList<>(group);
                members.add(
                        random.nextInt(members.size() + 1),
                        Row.random(random).withScore(random.nextBoolean() ? Double.NaN : Double.POSITIVE_INFINITY));
                more.add(members);
            }
            List<Advantages> present = new ArrayList<>();
            List<Advantages> all = estimate(name, more);
            List<Row> rows = more.stream().flatMap(List::stream).toList();
            for (int i = 0; i < rows.size(); i++) {
                if (Double.isFinite(rows.get(i).score())) {
                    present.add(all.get(i));
                } else {
                    assertThat(all.get(i).advantages())
                            .containsOnly(new double[rows.get(i).mask().length]);
                }
            }
            assertClose(sampledOnly(batch, present), sampledOnly(batch, estimate(name, batch)));
        });
    }

    @ParameterizedTest
    @MethodSource("all")
    void theOrderOfRowsAndGroupsDoesNotMatter(String name) {
        forRandomBatches((random, batch) -> {
            List<List<Row>> shuffled = new ArrayList<>();
            for (List<Row> group : batch) {
                List<Row> members = new ArrayList<>(group);
                Collections.shuffle(members, random);
                shuffled.add(members);
            }
            Collections.shuffle(shuffled, random);
            List<Row> before = batch.stream().flatMap(List::stream).toList();
            List<Row> after = shuffled.stream().flatMap(List::stream).toList();
            List<Advantages> expected = estimate(name, batch);
            List<Advantages> actual = estimate(name, shuffled);
            for (int i = 0; i < after.size(); i++) {
                assertThat(actual.get(i).advantages())
                        .containsExactly(
                                expected.get(before.indexOf(after.get(i))).advantages(), within(1e-9));
            }
        });
    }

    @ParameterizedTest
    @MethodSource("all")
    void tokensThatWereNotSampledAreExactlyZeroAndSampledOnesFinite(String name) {
        forRandomBatches((random, batch) -> {
            List<Row> rows = batch.stream().flatMap(List::stream).toList();
            List<Advantages> estimates = estimate(name, batch);
            for (int i = 0; i < rows.size(); i++) {
                for (int t = 0; t < rows.get(i).mask().length; t++) {
                    double advantage = estimates.get(i).advantages()[t];
                    assertThat(advantage).isFinite();
                    if (!rows.get(i).mask()[t]) {
                        assertThat(advantage).isZero();
                        assertThat(estimates.get(i).returns()[t]).isZero();
                    }
                }
            }
        });
    }

    private interface Check {
        void on(Random random, List<List<Row>> batch);
    }

    private static void forRandomBatches(Check check) {
        Random random = new Random(11);
        for (int trial = 0; trial < TRIALS; trial++) {
            List<List<Row>> batch = new ArrayList<>();
            for (int group = 0; group < 4; group++) {
                batch.add(Stream.generate(() -> Row.random(random))
                        .limit(1 + random.nextInt(4))
                        .toList());
            }
            check.on(random, batch);
        }
    }

    private static List<Advantages> estimate(String name, List<List<Row>> batch) {
        return AdvantageRegistry.create(name, SETTINGS)
                .estimateBatch(batch.stream()
                        .map(group -> group.stream().map(Row::sample).toList())
                        .toList())
                .stream()
                .flatMap(List::stream)
                .toList();
    }

    private static double[] sampledOnly(List<List<Row>> batch, List<Advantages> estimates) {
        List<Row> rows = batch.stream().flatMap(List::stream).toList();
        return IntStream.range(0, rows.size())
                .boxed()
                .flatMapToDouble(i -> IntStream.range(0, rows.get(i).mask().length)
                        .filter(t -> rows.get(i).mask()[t])
                        .mapToDouble(t -> estimates.get(i).advantages()[t]))
                .toArray();
    }

    private static void assertClose(double[] actual, double[] expected) {
        assertThat(actual).containsExactly(expected, within(1e-9));
    }
}
