package io.bellows.run;

import io.bellows.run.EvaluatedTrajectories.Last;
import io.bellows.udfs.statistics.PassAtK;
import io.bellows.udfs.statistics.PassHatK;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What an evaluation showed.
 *
 * @param run its directory
 * @param trajectories how many were wanted and tried
 * @param failed how many of them failed; they count nowhere else
 * @param unscored how many of the others have no reward
 * @param retries how often servers were asked again
 * @param sources figures by data source
 */
public record EvaluationReport(
        String run, long trajectories, long failed, long unscored, long retries, Map<String, Source> sources) {

    /**
     * An average.
     *
     * @param mean NaN without any value
     * @param count how many values
     */
    public record Average(double mean, long count) {
        static Average of(List<Double> values) {
            return new Average(
                    values.stream().mapToDouble(Double::doubleValue).average().orElse(Double.NaN), values.size());
        }
    }

    /**
     * The figures of one data source.
     *
     * @param accuracy share of right ones among the trajectories with a reward
     * @param reward mean reward
     * @param passAtK by k: probability that at least one of k is right (Chen et al., arXiv 2107.03374), mean over prompts with k rewards
     * @param passHatK by k: probability that all of k are right (Yao et al., arXiv 2406.12045), over the same prompts
     * @param rewards means of reward functions by name
     * @param metrics means of what was counted, over the trajectories that counted it
     */
    public record Source(
            Average accuracy,
            Average reward,
            Map<Integer, Average> passAtK,
            Map<Integer, Average> passHatK,
            Map<String, Average> rewards,
            Map<String, Average> metrics) {}

    /** Rights among the scored trajectories of a prompt. */
    private static final class Tally {
        private int scored;
        private int right;
    }

    /**
     * Sums trajectories up. One is right when the reward function {@code accuracyComponent} gives it 1 or more; where its environment
     * gave the rewards, and none of that name, when its reward is 1 or more.
     *
     * @param samples trajectories of a prompt
     */
    static EvaluationReport of(String run, EvaluatedTrajectories done, String accuracyComponent, int samples) {
        TreeMap<String, List<Last>> bySource = new TreeMap<>();
        done.all()
                .forEach(last -> bySource.computeIfAbsent(last.source(), source -> new ArrayList<>())
                        .add(last));
        Map<String, Source> sources = new LinkedHashMap<>();
        bySource.forEach((name, all) -> sources.put(name, source(all, accuracyComponent, samples)));
        return new EvaluationReport(
                run,
                done.all().size(),
                done.all().stream().filter(Last::failed).count(),
                done.all().stream()
                        .filter(last -> !last.failed() && last.reward() == null)
                        .count(),
                (long) done.all().stream()
                        .mapToDouble(last -> last.metrics().getOrDefault("model_retries", 0.0))
                        .sum(),
                sources);
    }

    private static Source source(List<Last> all, String accuracyComponent, int samples) {
        List<Last> valid = all.stream().filter(last -> !last.failed()).toList();
        List<Last> scored = valid.stream().filter(last -> last.reward() != null).toList();
        Map<String, Tally> groups = new TreeMap<>();
        List<Double> rights = new ArrayList<>();
        for (Last last : scored) {
            int right = isRight(last, accuracyComponent) ? 1 : 0;
            Tally tally = groups.computeIfAbsent(last.group(), group -> new Tally());
            tally.scored++;
            tally.right += right;
            rights.add((double) right);
        }
        Map<Integer, Average> passAtK = new TreeMap<>();
        Map<Integer, Average> passHatK = new TreeMap<>();
        for (int k : powersOfTwoAnd(samples)) {
            List<Tally> enough =
                    groups.values().stream().filter(tally -> tally.scored >= k).toList();
            passAtK.put(k, Average.of(values(enough, tally -> PassAtK.estimate(tally.scored, tally.right, k))));
            passHatK.put(k, Average.of(values(enough, tally -> PassHatK.estimate(tally.scored, tally.right, k))));
        }
        return new Source(
                Average.of(rights),
                Average.of(values(scored, Last::reward)),
                passAtK,
                passHatK,
                averages(valid.stream().map(Last::rewards).toList()),
                averages(valid.stream().map(Last::metrics).toList()));
    }

    private static boolean isRight(Last last, String accuracyComponent) {
        Double component = last.rewards().get(accuracyComponent);
        return (last.rewards().containsKey(accuracyComponent)
                ? component != null && component >= 1
                : last.reward() >= 1);
    }

    private static TreeSet<Integer> powersOfTwoAnd(int samples) {
        TreeSet<Integer> ks = new TreeSet<>(List.of(samples));
        for (int k = 1; k <= samples; k *= 2) {
            ks.add(k);
        }
        return ks;
    }

    private static <T> List<Double> values(List<T> of, java.util.function.Function<T, Double> value) {
        return of.stream().map(value).toList();
    }

    /** The mean of each name over the maps that have a value for it. */
    private static Map<String, Average> averages(List<Map<String, Double>> maps) {
        TreeMap<String, List<Double>> byName = new TreeMap<>();
        maps.forEach(map -> map.forEach((name, value) -> {
            if (value != null) {
                byName.computeIfAbsent(name, one -> new ArrayList<>()).add(value);
            }
        }));
        Map<String, Average> averages = new TreeMap<>();
        byName.forEach((name, values) -> averages.put(name, Average.of(values)));
        return averages;
    }

    /** The same as metrics of an iteration, under verl's names; without what is not known. */
    Map<String, Double> metrics() {
        Map<String, Double> metrics = new LinkedHashMap<>();
        sources.forEach((name, source) -> {
            int samples =
                    source.passAtK().keySet().stream().mapToInt(k -> k).max().orElse(1);
            put(metrics, "val-core/" + name + "/acc/mean@" + samples, source.accuracy());
            put(metrics, "val-core/" + name + "/reward/mean@" + samples, source.reward());
            source.passAtK().forEach((k, value) -> put(metrics, "val-aux/" + name + "/acc/pass@" + k, value));
            source.passHatK().forEach((k, value) -> put(metrics, "val-aux/" + name + "/acc/pass^" + k, value));
            source.rewards()
                    .forEach((reward, value) ->
                            put(metrics, "val-aux/" + name + "/" + reward + "/mean@" + samples, value));
            source.metrics()
                    .forEach((metric, value) ->
                            put(metrics, "val-aux/" + name + "/" + metric + "/mean@" + samples, value));
        });
        return metrics;
    }

    private static void put(Map<String, Double> metrics, String name, Average average) {
        if (average.count() > 0) {
            metrics.put(name, average.mean());
        }
    }
}
