package io.bellows.env;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.bellows.env.Handlers.Handler;
import io.bellows.reward.RewardOutcome.Status;
import io.bellows.reward.RewardScore;
import io.bellows.text.Message;
import io.bellows.trajectory.Score;
import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;

/**
 * Rewards of a trajectory: the weighted sum of the {@link Reward} methods of an object, which may be the environment itself, and its {@link
 * Metric} methods, which decide nothing. Several objects make one rubric, in any order.
 *
 * <p>A method gets its arguments by name, see {@link Reward}. It returns a number, or null where it cannot say: then there is no reward. One
 * that throws, or returns no finite number, has failed, and there is no reward either; nothing is ever turned into 0.
 */
public final class Rubric {

    private static final JsonMapper JSON = JsonMapper.builder().build();

    /** One method of one object. */
    private record Term(Object owner, Handler handler, double weight) {}

    private final List<Term> terms;

    private Rubric(List<Term> terms) {
        this.terms = terms;
    }

    /**
     * The rewards and metrics of some objects.
     *
     * @throws IllegalArgumentException if two methods have one name, or a weight is not finite
     */
    public static Rubric of(Object... owners) {
        List<Term> terms = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (Object owner : owners) {
            requireNonNull(owner, "owner");
            for (Handler handler : Handlers.of(owner.getClass(), Reward.class)) {
                terms.add(term(owner, handler, ((Reward) handler.annotation()).weight(), names));
            }
            for (Handler handler : Handlers.of(owner.getClass(), Metric.class)) {
                terms.add(term(owner, handler, 0, names));
            }
        }
        return new Rubric(List.copyOf(terms));
    }

    private static Term term(Object owner, Handler handler, double weight, Set<String> names) {
        if (!names.add(handler.name())) {
            throw new IllegalArgumentException("Invalid rubric: two rewards are called '" + handler.name()
                    + "', one in " + owner.getClass().getName() + "; rename one");
        }
        if (!Double.isFinite(weight)) {
            throw new IllegalArgumentException(
                    "Invalid weight " + weight + " of reward '" + handler.name() + "': give a finite number");
        }
        return new Term(owner, handler, weight);
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
                    messages.add(term.handler().name() + ": cannot say");
                }
            } catch (Throwable e) {
                failed = true;
                messages.add(term.handler().name() + ": " + MultiTurnEnv.text(e.toString()));
            }
            if (term.handler().annotation() instanceof Reward) {
                components.put(term.handler().name(), value);
            } else if (value != null) {
                metrics.put(term.handler().name(), value);
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
            arguments[i] = argument(parameters[i], state);
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

    private static Object argument(Parameter parameter, State state) {
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
            default -> column(parameter, state);
        };
    }

    private static String response(List<Message> completion) {
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
                            + " column; name one of prompt, completion, response, answer, info, state or a column");
        }
        return parameter.getType() == JsonNode.class ? value : JSON.convertValue(value, parameter.getType());
    }
}
