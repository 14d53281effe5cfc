package io.bellows.env;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.bellows.env.Handlers.Handler;
import io.bellows.reward.Parser;
import io.bellows.reward.UnscoredException;
import io.bellows.text.Message;
import io.bellows.trajectory.Score;
import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * Rewards of a trajectory: the weighted sum of the {@link Reward} and {@link GroupReward} methods of an object, which may be the environment
 * itself, and its {@link Metric} methods, which decide nothing. Several objects make one rubric, in any order; so do several rubrics, see {@link RubricGroup}.
 *
 * <p>A method gets its arguments by name, see {@link Reward}. It returns a number, or null where it cannot say: then there is no reward. One
 * that throws, or returns no finite number, has failed, and there is no reward either; nothing is ever turned into 0.
 */
public final class Rubric {

    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final String TOO_LATE = "it did not end within rollout.agent.timeout_s";

    /** One method of one object. */
    record Term(Object owner, Handler handler, double weight, Parser parser) {
        String name() {
            return handler.name();
        }

        boolean comparesTrajectories() {
            return handler.annotation() instanceof GroupReward;
        }
    }

    private final List<Term> terms;

    /** Terms in whatever order; they are asked, and added up, by priority and name, since a sum of floats depends on the order. */
    Rubric(List<Term> terms) {
        Map<String, Term> byName = new HashMap<>();
        for (Term term : terms) {
            Term other = byName.put(term.name(), term);
            if (other != null) {
                throw new IllegalArgumentException(
                        "Invalid rubric: two rewards are called '" + term.name() + "', one in "
                                + other.owner().getClass().getName() + " and one in "
                                + term.owner().getClass().getName() + "; rename one");
            }
        }
        this.terms = terms.stream()
                .sorted(Comparator.comparingInt((Term term) -> -term.handler().priority())
                        .thenComparing(Term::name))
                .toList();
    }

    /**
     * The rewards and metrics of some objects.
     *
     * @throws IllegalArgumentException if two methods have one name, or a weight is not finite
     */
    public static Rubric of(Object... owners) {
        List<Term> terms = new ArrayList<>();
        for (Object owner : owners) {
            requireNonNull(owner, "owner");
            for (Handler handler : Handlers.of(owner.getClass(), Reward.class)) {
                terms.add(term(owner, handler, ((Reward) handler.annotation()).weight()));
            }
            for (Handler handler : Handlers.of(owner.getClass(), GroupReward.class)) {
                terms.add(term(owner, handler, ((GroupReward) handler.annotation()).weight()));
            }
            for (Handler handler : Handlers.of(owner.getClass(), Metric.class)) {
                terms.add(term(owner, handler, 0));
            }
        }
        return new Rubric(terms);
    }

    private static Term term(Object owner, Handler handler, double weight) {
        if (!Double.isFinite(weight)) {
            throw new IllegalArgumentException(
                    "Invalid weight " + weight + " of reward '" + handler.name() + "': give a finite number");
        }
        return new Term(owner, handler, weight, Parser.whole());
    }

    /** The same rubric with another parser for the rewards that take an argument {@code parser}; at first that is {@link Parser#whole}. */
    public Rubric with(Parser parser) {
        return new Rubric(terms.stream()
                .map(term -> new Term(term.owner(), term.handler(), term.weight(), parser))
                .toList());
    }

    List<Term> terms() {
        return terms;
    }

    /** Whether there is nothing to score. */
    boolean isEmpty() {
        return terms.isEmpty();
    }

    /** Whether a term compares the trajectories of a prompt: then {@link #scoreGroup} follows. */
    boolean comparesTrajectories() {
        return terms.stream().anyMatch(Term::comparesTrajectories);
    }

    /** Scores a trajectory by itself; never throws for what a method does. What ends after the deadline by an exception cannot say. */
    Score score(State state) {
        Tally tally = new Tally();
        Map<String, Double> metrics = new LinkedHashMap<>();
        for (Term term : terms) {
            if (term.comparesTrajectories()) {
                continue;
            }
            Double value = null;
            try {
                value = value(term, state);
                if (value == null) {
                    tally.cannotSay(term.name(), "cannot say");
                }
            } catch (UnscoredException e) {
                tally.cannotSay(term.name(), e.getMessage());
            } catch (Throwable e) {
                if (state.remainingNanos() <= 0) {
                    tally.cannotSay(term.name(), TOO_LATE);
                } else {
                    tally.fail(term.name(), e.toString());
                }
            }
            if (term.handler().annotation() instanceof Reward) {
                tally.record(term.name(), value);
            } else if (value != null) {
                metrics.put(term.name(), value);
            }
            tally.add(term.weight(), value);
        }
        return new Score(tally.score(), metrics);
    }

    /**
     * Adds the rewards that compare the trajectories of a prompt to the scores that these have; never throws for what a method does. One that
     * fails has failed for all of them; one that ends by an exception after the deadline cannot say.
     *
     * @param states trajectories with a score, by sample index
     * @param isLate whether the deadline has passed
     * @return the score of each, in the same order; the states stay as they are
     */
    List<Score> scoreGroup(List<State> states, BooleanSupplier isLate) {
        List<Tally> tallies = tallies(states);
        for (Term term : terms) {
            if (!term.comparesTrajectories()) {
                continue;
            }
            try {
                addGroupValues(term, groupValues(term, states), tallies);
            } catch (Throwable e) {
                if (isLate.getAsBoolean()) {
                    cannotSay(term, TOO_LATE, tallies);
                } else {
                    fail(term, e.toString(), tallies);
                }
            }
        }
        return scores(states, tallies);
    }

    private static void addGroupValues(Term term, List<Double> values, List<Tally> tallies) {
        for (int i = 0; i < values.size(); i++) {
            Tally tally = tallies.get(i);
            Double value = values.get(i);
            if (value == null) {
                tally.cannotSay(term.name(), "cannot say");
            } else if (!Double.isFinite(value)) {
                tally.fail(term.name(), "Invalid reward " + value + ": expected a finite number");
                value = null;
            }
            tally.record(term.name(), value);
            tally.add(term.weight(), value);
        }
    }

    private static void fail(Term term, String why, List<Tally> tallies) {
        tallies.forEach(tally -> tally.fail(term.name(), why));
        withoutValue(term, tallies);
    }

    private static void cannotSay(Term term, String why, List<Tally> tallies) {
        tallies.forEach(tally -> tally.cannotSay(term.name(), why));
        withoutValue(term, tallies);
    }

    private static void withoutValue(Term term, List<Tally> tallies) {
        for (Tally tally : tallies) {
            tally.record(term.name(), null);
            tally.add(term.weight(), null);
        }
    }

    /** The score of a trajectory that there was no time to score. */
    Score tooLate() {
        Tally tally = new Tally();
        for (Term term : terms) {
            if (term.handler().annotation() instanceof Reward) {
                tally.cannotSay(term.name(), TOO_LATE);
                withoutValue(term, List.of(tally));
            }
        }
        return new Score(tally.score(), Map.of());
    }

    /** The scores of trajectories that there was no time to compare. */
    List<Score> groupTooLate(List<State> states) {
        List<Tally> tallies = tallies(states);
        terms.stream().filter(Term::comparesTrajectories).forEach(term -> cannotSay(term, TOO_LATE, tallies));
        return scores(states, tallies);
    }

    /** The scores of trajectories that could not be compared. */
    List<Score> groupFailed(List<State> states, String why) {
        List<Tally> tallies = tallies(states);
        terms.stream().filter(Term::comparesTrajectories).forEach(term -> fail(term, why, tallies));
        return scores(states, tallies);
    }

    private static List<Tally> tallies(List<State> states) {
        return states.stream().map(state -> Tally.of(state.score().score())).toList();
    }

    private static List<Score> scores(List<State> states, List<Tally> tallies) {
        List<Score> scores = new ArrayList<>();
        for (int i = 0; i < states.size(); i++) {
            scores.add(new Score(tallies.get(i).score(), states.get(i).score().metrics()));
        }
        return scores;
    }

    private static List<Double> groupValues(Term term, List<State> states) throws Exception {
        if (!(term.handler().call(term.owner(), states) instanceof List<?> given) || given.size() != states.size()) {
            throw new IllegalArgumentException("Invalid rewards of a group: expected a list of " + states.size()
                    + " numbers, one for each trajectory");
        }
        List<Double> values = new ArrayList<>();
        for (Object value : given) {
            values.add(value == null ? null : (Double) ((Number) value).doubleValue());
        }
        return values;
    }

    private static Double value(Term term, State state) throws Exception {
        Parameter[] parameters = term.handler().method().getParameters();
        Object[] arguments = new Object[parameters.length];
        for (int i = 0; i < arguments.length; i++) {
            arguments[i] = argument(parameters[i], state, term.parser());
        }
        Object value = term.handler().call(term.owner(), arguments);
        if (value == null) {
            return null;
        }
        if (!(value instanceof Number number) || !Double.isFinite(number.doubleValue())) {
            throw new IllegalArgumentException("Invalid reward " + value + ": expected a finite number");
        }
        return number.doubleValue();
    }

    private static Object argument(Parameter parameter, State state, Parser parser) {
        if (parameter.getType() == State.class) {
            return state;
        }
        if (!parameter.isNamePresent()) {
            throw new IllegalArgumentException(
                    "Cannot give " + parameter.getDeclaringExecutable().getName()
                            + " its arguments: their names are not in the class file; compile with javac -parameters");
        }
        return switch (parameter.getName()) {
            case "prompt" -> state.prompt();
            case "completion" -> state.completion();
            case "response" -> response(state.completion());
            case "answer" -> state.answer();
            case "info" -> state.info();
            case "parser" -> parser;
            default -> column(parameter, state);
        };
    }

    /** What the model said last, or null. */
    static String response(List<Message> completion) {
        String last = null;
        for (Message message : completion) {
            last = message.role().equals("assistant") ? message.content() : last;
        }
        return last;
    }

    private static Object column(Parameter parameter, State state) {
        String name = Handlers.snakeCase(parameter.getName());
        JsonNode columns = state.example().columns();
        JsonNode value = columns.has(parameter.getName()) ? columns.get(parameter.getName()) : columns.get(name);
        if (value == null) {
            throw new IllegalArgumentException(
                    "Cannot give the argument '" + parameter.getName() + "': the row has no such"
                            + " column; name one of prompt, completion, response, answer, info, parser, state or a column");
        }
        return parameter.getType() == JsonNode.class ? value : JSON.convertValue(value, parameter.getType());
    }
}
