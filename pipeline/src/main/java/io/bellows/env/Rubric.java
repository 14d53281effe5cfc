package io.bellows.env;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.bellows.env.Handlers.Handler;
import io.bellows.reward.Parser;
import io.bellows.reward.RewardOutcome.Status;
import io.bellows.reward.RewardScore;
import io.bellows.reward.UnscoredException;
import io.bellows.text.Message;
import io.bellows.trajectory.Score;
import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;

/**
 * Rewards of a trajectory: the weighted sum of the {@link Reward} methods of an object, which may be the environment itself, and its {@link
 * Metric} methods, which decide nothing. Several objects make one rubric, in any order; so do several rubrics, see {@link RubricGroup}.
 *
 * <p>A method gets its arguments by name, see {@link Reward}. It returns a number, or null where it cannot say: then there is no reward. One
 * that throws, or returns no finite number, has failed, and there is no reward either; nothing is ever turned into 0.
 */
public final class Rubric {

    private static final JsonMapper JSON = JsonMapper.builder().build();

    /** One method of one object. */
    record Term(Object owner, Handler handler, double weight, Parser parser) {
        String name() {
            return handler.name();
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

    /** Scores a trajectory; never throws for what a method does. */
    Score score(State state) {
        Map<String, Double> components = new LinkedHashMap<>();
        Map<String, Double> metrics = new LinkedHashMap<>();
        StringJoiner messages = new StringJoiner("; ");
        boolean failed = false;
        boolean complete = true;
        double sum = 0;
        for (Term term : terms) {
            Double value = null;
            try {
                value = value(term, state);
                if (value == null) {
                    messages.add(term.name() + ": cannot say");
                }
            } catch (UnscoredException e) {
                messages.add(term.name() + ": " + MultiTurnEnv.text(e.getMessage()));
            } catch (Throwable e) {
                failed = true;
                messages.add(term.name() + ": " + MultiTurnEnv.text(e.toString()));
            }
            if (term.handler().annotation() instanceof Reward) {
                components.put(term.name(), value);
            } else if (value != null) {
                metrics.put(term.name(), value);
            }
            complete &= value != null || term.weight() == 0;
            sum += value == null || term.weight() == 0 ? 0 : term.weight() * value;
        }
        Status status = failed ? Status.FAILED : complete ? Status.SCORED : Status.UNSCORED;
        return new Score(
                new RewardScore(
                        complete && Double.isFinite(sum) ? (Double) sum : null,
                        Collections.unmodifiableMap(components),
                        status,
                        messages.length() == 0 ? null : messages.toString()),
                metrics);
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
