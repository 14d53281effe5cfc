package io.bellows.tool;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.text.toolcall.ToolCall;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tools of one trajectory, with state of their own. Used by one thread at a time; {@link #close} releases every tool,
 * whatever happened.
 */
public final class ToolSession implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(ToolSession.class);

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
            .build();

    private final Map<String, OpenTool> tools = new LinkedHashMap<>();
    private final ToolLimits limits;
    private final AnswerText answers;
    private final AtomicLong releaseFailures;
    private boolean closed;

    ToolSession(List<OpenTool> opened, ToolLimits limits, AnswerText answers, AtomicLong releaseFailures) {
        this.limits = limits;
        this.answers = answers;
        this.releaseFailures = releaseFailures;
        opened.forEach(tool -> tools.put(tool.name(), tool));
    }

    /** The OpenAI function schemas of these tools, in order. */
    public List<ObjectNode> schemas() {
        return tools.values().stream().map(OpenTool::schema).toList();
    }

    /**
     * Runs a call. Nothing that the model or the tool did throws; it is in the result.
     *
     * @param remaining what is left to the trajectory; the call also has the limit of {@link ToolLimits#timeout}
     * @throws IllegalStateException when the session is closed
     */
    public ToolResult call(ToolCall call, Duration remaining) {
        if (closed) {
            throw new IllegalStateException("Cannot call " + call.name() + ": the session is closed");
        }
        long start = System.nanoTime();
        Answer answer = answer(call, remaining);
        AnswerText.Fitted fitted = answers.fit(answer.response().text());
        return new ToolResult(
                call,
                fitted.text(),
                answer.response().reward(),
                answer.response().metrics(),
                answer.error(),
                fitted.truncated(),
                TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
    }

    /**
     * Runs the calls of a turn; every one has its result, in the order of the calls. At most {@link ToolLimits#maxParallelCalls} run
     * at once; calls of the same tool one after another, in order.
     *
     * @param remaining what is left to the trajectory, for all of them together
     */
    public List<ToolResult> callAll(List<ToolCall> turn, Duration remaining) {
        long deadline = System.nanoTime() + remaining.toNanos();
        Map<Object, List<Integer>> lanes = lanes(turn);
        ToolResult[] results = new ToolResult[turn.size()];
        List<Runnable> work = new ArrayList<>();
        lanes.values()
                .forEach(lane -> work.add(() -> {
                    for (int i : lane) {
                        results[i] = call(turn.get(i), Duration.ofNanos(deadline - System.nanoTime()));
                    }
                }));
        int parallel = Math.min(limits.maxParallelCalls(), work.size());
        if (parallel > 1) {
            inParallel(work, parallel);
        } else {
            for (int i = 0; i < results.length; i++) {
                results[i] = call(turn.get(i), Duration.ofNanos(deadline - System.nanoTime()));
            }
        }
        return List.of(results);
    }

    /**
     * What the tools say of the state they are in, in their order; tools without anything to say are left out.
     *
     * @param remaining what is left to the trajectory
     */
    public List<ToolReward> calcRewards(Duration remaining) {
        long deadline = System.nanoTime() + remaining.toNanos();
        List<ToolReward> rewards = new ArrayList<>();
        for (OpenTool tool : tools.values()) {
            Answer answer = tool.calcReward(Duration.ofNanos(deadline - System.nanoTime()));
            if (answer.error() != null || answer.response().reward() != null) {
                rewards.add(new ToolReward(tool.name(), answer.response().reward(), answer.error()));
            }
        }
        return rewards;
    }

    /** Releases every tool, also when the thread is interrupted. Never throws; failures are counted and logged. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        boolean interrupted = Thread.interrupted();
        for (OpenTool tool : tools.values()) {
            ToolError error = tool.release();
            if (error != null) {
                releaseFailures.incrementAndGet();
                LOG.warn("Cannot release the tool {}: {}", tool.name(), error.message());
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private Answer answer(ToolCall call, Duration remaining) {
        OpenTool tool = tools.get(call.name());
        if (tool == null) {
            return Answer.error(
                    ToolError.Kind.UNKNOWN_TOOL,
                    "unknown tool '" + call.name() + "'; available: " + String.join(", ", tools.keySet()));
        }
        try {
            JsonNode arguments = JSON.readTree(call.arguments());
            return arguments instanceof ObjectNode object
                    ? tool.execute(object, remaining)
                    : Answer.error(
                            ToolError.Kind.INVALID_ARGUMENTS,
                            "invalid arguments: expected a JSON object with the arguments by name");
        } catch (JsonProcessingException e) {
            return Answer.error(ToolError.Kind.BAD_JSON, "the arguments are not JSON: " + e.getOriginalMessage());
        }
    }

    /** Calls that may not overtake each other, by what they have in common. */
    private Map<Object, List<Integer>> lanes(List<ToolCall> turn) {
        Map<Object, List<Integer>> lanes = new LinkedHashMap<>();
        for (int i = 0; i < turn.size(); i++) {
            OpenTool tool = tools.get(turn.get(i).name());
            Object state = tool == null ? null : tool.state();
            lanes.computeIfAbsent(state == null ? i : state, key -> new ArrayList<>())
                    .add(i);
        }
        return lanes;
    }

    private static void inParallel(List<Runnable> work, int parallel) {
        ExecutorService threads = Executors.newFixedThreadPool(parallel, run -> {
            Thread thread = new Thread(run, "tool-calls");
            thread.setDaemon(true);
            return thread;
        });
        work.forEach(threads::execute);
        threads.shutdown();
        boolean interrupted = false;
        while (true) {
            try {
                // Each call has its limit, so this ends.
                if (threads.awaitTermination(1, TimeUnit.MINUTES)) {
                    break;
                }
            } catch (InterruptedException e) {
                interrupted = true;
                threads.shutdownNow();
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
