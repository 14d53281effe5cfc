package io.bellows.env;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.env.ModelRequest.TrajectoryId;
import io.bellows.text.ConversationTokens;
import io.bellows.text.Message;
import io.bellows.trajectory.Outcome;
import io.bellows.trajectory.Score;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * One trajectory in the making: what its row gave it, what the environment notes, and what the loop keeps and nobody else may set.
 *
 * <p>A state belongs to one trajectory. Once the loop has given the trajectory up, because a step ignored its deadline, every change
 * throws.
 */
public final class State {

    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final Set<String> INPUT = Set.of("prompt", "answer", "info", "example_id");
    private static final Set<String> MANAGED = Set.of(
            "is_completed",
            "is_truncated",
            "stop_condition",
            "error",
            "trajectory",
            "trajectory_id",
            "completion",
            "metrics",
            "timing",
            "reward");

    private final TrajectoryId id;
    private final Example example;
    private final RolloutLimits limits;
    private final ConversationTokens tokens;
    private final long deadlineNanos;

    private final Map<String, Object> fields = new LinkedHashMap<>();
    private final Map<String, Double> metrics = new TreeMap<>();
    private final Map<String, Double> timing = new TreeMap<>();
    private final List<TrajectoryStep> steps = new ArrayList<>();
    private final List<Message> completion = new ArrayList<>();
    private List<Message> messages;
    private List<Message> shownPrompt;
    private List<Message> finalEnvResponse;
    private ConversationTokens.Context context;
    private JsonNode contextTools;
    private int used;
    private int envResponses;
    private double stepReward = Double.NaN;

    private boolean promptTooLong;
    private boolean budgetSpent;
    private boolean timedOut;
    private String askedToStop;
    private Failure error;
    private String stopCondition;
    private boolean ranOut;
    private Score score;
    private volatile boolean begun;
    private volatile boolean abandoned;

    /**
     * A trajectory that has not begun. Its clock runs from here.
     *
     * @param id which trajectory
     * @param example its row
     * @param limits what it may use up
     * @param tokens its conversation as token ids
     */
    public State(TrajectoryId id, Example example, RolloutLimits limits, ConversationTokens tokens) {
        this.id = id;
        this.example = example;
        this.limits = limits;
        this.tokens = tokens;
        this.messages = example.prompt();
        this.shownPrompt = example.prompt();
        this.deadlineNanos = limits.timeout() == null
                ? Long.MAX_VALUE
                : System.nanoTime() + limits.timeout().toNanos();
    }

    // ---- what the row gave

    /** Which trajectory. */
    public TrajectoryId id() {
        return id;
    }

    /** The row. */
    public Example example() {
        return example;
    }

    /** The messages of the row. */
    public List<Message> prompt() {
        return example.prompt();
    }

    /** The reference answer as text, or null. */
    public String answer() {
        return example.answer();
    }

    /** The column info or extra_info; an empty object without. */
    public JsonNode info() {
        return example.info();
    }

    /** Digest of the data file and row in it. */
    public String exampleId() {
        return example.exampleId();
    }

    // ---- what the environment notes

    /**
     * Notes a field, for the environment's own use and for the column {@code state}.
     *
     * @throws IllegalArgumentException if the name is one of an input or of the loop
     */
    public synchronized void put(String name, Object value) {
        requireLive();
        if (INPUT.contains(name) || MANAGED.contains(name)) {
            throw new IllegalArgumentException("Invalid state field '" + name + "': "
                    + (INPUT.contains(name) ? "it is the row's" : "the loop sets it") + "; use another name");
        }
        fields.put(name, value);
    }

    /** A field that was noted, an input by its name, or null. */
    public synchronized Object get(String name) {
        return switch (name) {
            case "prompt" -> prompt();
            case "answer" -> answer();
            case "info" -> info();
            case "example_id" -> exampleId();
            default -> fields.get(name);
        };
    }

    /**
     * A field that was noted, or null.
     *
     * @throws ClassCastException if it is of another type
     */
    public <T> T get(String name, Class<T> type) {
        return type.cast(get(name));
    }

    /** Adds to a metric, which goes to the column {@code metrics}. */
    public synchronized void addMetric(String name, double amount) {
        requireLive();
        metrics.merge(name, amount, Double::sum);
    }

    /** Adds to the reward of the model's last turn, or of its first where it has had none. */
    public synchronized void addStepReward(double amount) {
        requireLive();
        stepReward = Double.isNaN(stepReward) ? amount : stepReward + amount;
        if (!steps.isEmpty()) {
            int last = steps.size() - 1;
            Double before = steps.get(last).reward();
            steps.set(last, steps.get(last).withReward(before == null ? stepReward : before + stepReward));
            stepReward = Double.NaN;
        }
    }

    /** The rewards of all turns together; 0 without any. */
    public synchronized double totalStepReward() {
        double total = Double.isNaN(stepReward) ? 0 : stepReward;
        for (TrajectoryStep step : steps) {
            total += step.reward() == null ? 0 : step.reward();
        }
        return total;
    }

    /** Ends the trajectory at the next check, complete, with a stop condition of this name. */
    public synchronized void stop(String condition) {
        requireLive();
        askedToStop = condition;
    }

    /** Ends the trajectory with messages that the model does not see; an empty list ends it without any. */
    public synchronized void finalEnvResponse(List<Message> response) {
        requireLive();
        finalEnvResponse = List.copyOf(response);
    }

    // ---- what the loop keeps

    /** What the environment said last, or null. */
    public synchronized List<Message> finalEnvResponse() {
        return finalEnvResponse;
    }

    /** The conversation so far: the next prompt. */
    public synchronized List<Message> messages() {
        return List.copyOf(messages);
    }

    /** The messages that the first turn was given. */
    public synchronized List<Message> shownPrompt() {
        return shownPrompt;
    }

    /** All messages after the first prompt. */
    public synchronized List<Message> completion() {
        return List.copyOf(completion);
    }

    /** The model's turns. */
    public synchronized List<TrajectoryStep> trajectory() {
        return List.copyOf(steps);
    }

    /** Ids of the prompt that the first turn is to be given; empty before it is known. */
    public synchronized int[] firstPromptIds() {
        return steps.isEmpty()
                ? context == null ? new int[0] : context.ids()
                : steps.get(0).contextIds();
    }

    /** The model's last turn, or null before the first. */
    public synchronized TrajectoryStep lastStep() {
        return steps.isEmpty() ? null : steps.get(steps.size() - 1);
    }

    /** Answers of the environment so far. */
    public synchronized int envResponses() {
        return envResponses;
    }

    /** Tokens that the model sampled. */
    public synchronized int completionTokens() {
        return steps.stream().mapToInt(step -> step.completionIds().length).sum();
    }

    /** Whether it has ended. */
    public synchronized boolean isCompleted() {
        return stopCondition != null;
    }

    /** Whether a limit cut it, or any of its turns, short. */
    public synchronized boolean isTruncated() {
        return ranOut || steps.stream().anyMatch(TrajectoryStep::isTruncated);
    }

    /** The stop condition that ended it, or null. */
    public synchronized String stopCondition() {
        return stopCondition;
    }

    /** Why it failed, or null. */
    public synchronized Failure error() {
        return error;
    }

    /** The score that the environment gave, or null. */
    public synchronized Score score() {
        return score;
    }

    /** Metrics by name. */
    public synchronized Map<String, Double> metrics() {
        return new TreeMap<>(metrics);
    }

    /** Seconds by phase. */
    public synchronized Map<String, Double> timing() {
        return new TreeMap<>(timing);
    }

    /** Nanoseconds until the trajectory has to end; negative when it is late. */
    public long remainingNanos() {
        return deadlineNanos == Long.MAX_VALUE ? Long.MAX_VALUE : deadlineNanos - System.nanoTime();
    }

    /** How it ended, for the record. */
    public synchronized Outcome outcome() {
        if (error != null) {
            return new Outcome(Outcome.Status.FAILED, stopCondition, error.kind(), error.message());
        }
        return isTruncated() ? Outcome.truncated(stopCondition) : Outcome.completed(stopCondition);
    }

    /** The noted fields as a JSON object, or null without any. What has no JSON form is left out. */
    public synchronized String toJson() {
        if (fields.isEmpty() || abandoned) { // a step that goes on may be changing them
            return null;
        }
        ObjectNode object = JSON.createObjectNode();
        fields.forEach((name, value) -> {
            try {
                object.set(name, JSON.valueToTree(value));
            } catch (IllegalArgumentException | StackOverflowError e) {
                object.remove(name); // an object of the environment's own, such as a connection
            }
        });
        return object.toString();
    }

    /** How many tokens a text has. */
    public int countTokens(String text) {
        return tokens.count(text);
    }

    // ---- the loop's side

    RolloutLimits limits() {
        return limits;
    }

    boolean isPromptTooLong() {
        return promptTooLong;
    }

    boolean isBudgetSpent() {
        return budgetSpent;
    }

    boolean isTimedOut() {
        return timedOut;
    }

    String askedToStop() {
        return askedToStop;
    }

    boolean isAbandoned() {
        return abandoned;
    }

    synchronized void fail(String kind, String message) {
        requireLive();
        if (error == null) {
            error = new Failure(kind, message);
        }
    }

    synchronized void end(String condition, Stop.Ending ending) {
        requireLive();
        stopCondition = condition;
        ranOut = ending == Stop.Ending.RAN_OUT;
    }

    void begin() {
        begun = true;
    }

    boolean hasBegun() {
        return begun;
    }

    synchronized void timeOut() {
        timedOut = true;
    }

    /** Ends the trajectory where it is; a step of it may still be running. */
    synchronized void abandon() {
        timedOut = true;
        if (stopCondition == null) {
            stopCondition = "timeout";
            ranOut = true;
        }
        seal();
    }

    /** What still runs of the trajectory changes nothing any more. */
    synchronized void seal() {
        metrics.merge("abandoned", 1.0, Double::sum);
        abandoned = true;
    }

    /** The time that a trajectory has in all. */
    long timeLimitNanos() {
        return limits.timeout() == null ? Long.MAX_VALUE : limits.timeout().toNanos();
    }

    synchronized void score(Score given) {
        requireLive();
        score = given;
    }

    /** Until there is a score, and for good where the trajectory was given up before. */
    synchronized void unscored(Score reason) {
        score = reason;
    }

    synchronized void addTiming(String phase, double seconds) {
        if (!abandoned) {
            timing.merge(phase, seconds, Double::sum);
        }
    }

    synchronized void noteCleanupFailure() {
        metrics.merge("cleanup_failures", 1.0, Double::sum); // cleanups run for abandoned trajectories too
    }

    /** Sets the conversation that the model answers next, and what it costs. */
    synchronized void ask(List<Message> conversation, JsonNode tools) {
        requireLive();
        ConversationTokens.Context next = tokens.next(conversation, tools);
        requireLive();
        int added = next.ids().length;
        if (steps.isEmpty()) {
            shownPrompt = List.copyOf(conversation);
            promptTooLong = added > limits.maxPromptTokens();
        } else {
            int growth = next.extension() ? added : Math.max(0, added - segmentLength());
            used += growth;
        }
        messages = List.copyOf(conversation);
        context = next;
        contextTools = tools;
        budgetSpent = maxTokens() < 1;
    }

    /** The request for the turn that {@link #ask} prepared. */
    synchronized ModelRequest request() {
        return new ModelRequest(id, steps.size(), messages, contextTools, promptIds(), maxTokens());
    }

    private int maxTokens() {
        int length = context.ids().length + (context.extension() ? segmentLength() : 0);
        return Math.min(limits.maxResponseTokens() - used, limits.maxSequenceTokens() - length);
    }

    private int[] promptIds() {
        List<int[]> parts = new ArrayList<>();
        if (context.extension()) {
            segment().forEach(step -> {
                parts.add(step.contextIds());
                parts.add(step.completionIds());
            });
        }
        parts.add(context.ids());
        return joined(parts);
    }

    private int segmentLength() {
        return segment().stream()
                .mapToInt(step -> step.contextIds().length + step.completionIds().length)
                .sum();
    }

    private List<TrajectoryStep> segment() {
        int current = steps.isEmpty() ? 0 : steps.get(steps.size() - 1).segmentIndex();
        return steps.stream().filter(step -> step.segmentIndex() == current).toList();
    }

    /** Takes the model's turn in. */
    synchronized void take(ModelTurn turn, Message message) {
        requireLive();
        if (turn.logProbs().length > 0 && turn.ids().length != turn.logProbs().length) {
            throw new IllegalArgumentException("Invalid model turn: " + turn.ids().length + " ids and "
                    + turn.logProbs().length + " log-probabilities; both must be of one length");
        }
        int segment = steps.isEmpty() ? 0 : lastStep().segmentIndex() + (context.extension() ? 0 : 1);
        steps.add(new TrajectoryStep(
                segment,
                context.ids(),
                turn.ids(),
                turn.logProbs(),
                context.messages(),
                message,
                turn.finish(),
                Double.isNaN(stepReward) ? null : (Double) stepReward,
                turn.weightsVersion(),
                turn.millis(),
                0));
        stepReward = Double.NaN;
        used += turn.ids().length;
        budgetSpent = turn.finish() == ModelTurn.Finish.LENGTH;
        tokens.sampled(turn.ids(), message);
        append(List.of(message));
        timing.merge("generation", turn.millis() / 1000.0, Double::sum);
    }

    /** Takes the environment's answer in. */
    synchronized void answered(List<Message> response, long millis) {
        requireLive();
        envResponses++;
        append(response);
        int last = steps.size() - 1;
        steps.set(last, steps.get(last).withEnvMillis(millis));
        timing.merge("environment", millis / 1000.0, Double::sum);
    }

    /** What the environment says last is in the record and in no prompt. */
    synchronized void addFinalResponse() {
        requireLive();
        completion.addAll(finalEnvResponse);
    }

    private void append(List<Message> added) {
        List<Message> all = new ArrayList<>(messages);
        all.addAll(added);
        messages = all;
        completion.addAll(added);
    }

    private void requireLive() {
        if (abandoned) {
            throw new IllegalStateException(
                    "Cannot change the state of a trajectory that has ended: a step of it ignored"
                            + " the deadline and its interruption; end steps when they are interrupted");
        }
    }

    static int[] joined(List<int[]> parts) {
        int[] all = new int[parts.stream().mapToInt(part -> part.length).sum()];
        int at = 0;
        for (int[] part : parts) {
            System.arraycopy(part, 0, all, at, part.length);
            at += part.length;
        }
        return all;
    }
}
