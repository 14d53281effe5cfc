package io.bellows.reward;

import io.bellows.reward.RewardOutcome.Status;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.StringJoiner;

/**
 * The reward of a run: reward = sum of weight x value over its functions.
 *
 * <p>The sum exists only when every function with a weight other than 0 has a value; a function of weight 0 is recorded
 * and decides nothing, except that its failure counts as a failure of the scorer.
 */
public final class WeightedRewards implements Serializable {

    /**
     * One term of the sum.
     *
     * @param name the name its value is recorded under, unique in the sum
     * @param weight its factor, finite; 0 records only
     * @param function the function
     */
    public record Term(String name, double weight, RewardFunction function) implements Serializable {}

    private final List<Term> terms;

    /**
     * A weighted sum of functions.
     *
     * @throws IllegalArgumentException when there is no term, a name occurs twice or a weight is not finite
     */
    public WeightedRewards(List<Term> terms) {
        this.terms = List.copyOf(terms);
        if (terms.isEmpty()) {
            throw new IllegalArgumentException(
                    "Invalid reward: no function given; name at least one in reward.functions");
        }
        Set<String> names = new HashSet<>();
        for (Term term : terms) {
            if (!names.add(term.name())) {
                throw new IllegalArgumentException("Invalid reward: two functions are recorded as '" + term.name()
                        + "'; tell them apart with the option 'as'");
            }
            if (!Double.isFinite(term.weight())) {
                throw new IllegalArgumentException("Invalid weight " + term.weight() + " of reward function '"
                        + term.name() + "': give a finite number");
            }
        }
    }

    /** Names under which values are recorded, in configured order. */
    public List<String> names() {
        return terms.stream().map(Term::name).toList();
    }

    /** Whether a function looks at all samples of a prompt together: then {@link #scoreGroup} is to be used. */
    public boolean comparesSamples() {
        return terms.stream().anyMatch(term -> term.function() instanceof GroupRewardFunction);
    }

    /** Scores one trajectory with every function, as a group of one; never throws for what a function does. */
    public RewardScore score(RewardInput input) {
        return scoreGroup(List.of(input)).get(0);
    }

    /**
     * Scores the samples of one prompt with every function; never throws for what a function does.
     *
     * @param group the samples in their order, without those that failed
     * @return the score of each, in the same order
     */
    public List<RewardScore> scoreGroup(List<RewardInput> group) {
        if (group.isEmpty()) {
            return List.of();
        }
        List<List<RewardOutcome>> byTerm =
                terms.stream().map(term -> outcomes(term.function(), group)).toList();
        List<RewardScore> scores = new ArrayList<>();
        for (int i = 0; i < group.size(); i++) {
            int sample = i;
            scores.add(sum(byTerm.stream().map(outcomes -> outcomes.get(sample)).toList()));
        }
        return scores;
    }

    /** The weighted sum over the terms' outcomes for one trajectory. */
    private RewardScore sum(List<RewardOutcome> outcomes) {
        Map<String, Double> components = new LinkedHashMap<>();
        StringJoiner messages = new StringJoiner("; ");
        double sum = 0;
        boolean complete = true;
        boolean failed = false;
        for (int i = 0; i < terms.size(); i++) {
            Term term = terms.get(i);
            RewardOutcome outcome = outcomes.get(i);
            components.put(term.name(), outcome.value());
            if (outcome.status() == Status.SCORED) {
                sum += term.weight() == 0 ? 0 : term.weight() * outcome.value();
            } else {
                complete &= term.weight() == 0;
                failed |= outcome.status() == Status.FAILED;
                messages.add(term.name() + ": " + outcome.reason());
            }
        }
        if (complete && !Double.isFinite(sum)) {
            complete = false;
            failed = true;
            messages.add("Invalid reward " + sum + ": the weighted sum is not a finite number");
        }
        Status status = failed ? Status.FAILED : complete ? Status.SCORED : Status.UNSCORED;
        return new RewardScore(
                complete ? sum : null,
                Collections.unmodifiableMap(components),
                status,
                messages.length() == 0 ? null : messages.toString());
    }

    private static List<RewardOutcome> outcomes(RewardFunction function, List<RewardInput> group) {
        if (!(function instanceof GroupRewardFunction comparing)) {
            return group.stream().map(input -> outcome(function, input)).toList();
        }
        RewardOutcome failure;
        try {
            List<RewardOutcome> outcomes = comparing.scoreGroup(group);
            if (outcomes != null
                    && outcomes.size() == group.size()
                    && outcomes.stream().noneMatch(Objects::isNull)) {
                return List.copyOf(outcomes);
            }
            failure = RewardOutcome.failed(
                    "the function gave " + outcomes + " for " + group.size() + " samples; give one outcome for each");
        } catch (RuntimeException | StackOverflowError e) {
            failure = RewardOutcome.failed(e.toString());
        }
        return Collections.nCopies(group.size(), failure);
    }

    private static RewardOutcome outcome(RewardFunction function, RewardInput input) {
        try {
            RewardOutcome outcome = function.score(input);
            return outcome != null ? outcome : RewardOutcome.failed("the function returned null");
        } catch (RuntimeException | StackOverflowError e) {
            // Hostile text can drive user code into both; the run goes on and counts it.
            return RewardOutcome.failed(e.toString());
        }
    }
}
