package io.bellows.env;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.text.Message;
import io.bellows.text.toolcall.MalformedCall;
import io.bellows.text.toolcall.ParsedTurn;
import io.bellows.text.toolcall.ToolCall;
import io.bellows.text.toolcall.ToolCallFormat;
import io.bellows.text.toolcall.ToolCallParser;
import io.bellows.text.toolcall.TurnEnd;
import io.bellows.tool.ToolError;
import io.bellows.tool.ToolRegistry;
import io.bellows.tool.ToolResult;
import io.bellows.tool.ToolReward;
import io.bellows.tool.ToolSession;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;

/**
 * The model calls tools until it answers without a call. Each call of a turn gets an answer, in the order of the calls, whatever the others
 * do: what a tool says, or what was wrong with the call.
 *
 * <p>Metrics: {@code tool_calls}, of which {@code tool_calls_malformed}; {@code tool_calls_succeeded}, {@code tool_calls_failed}, {@code
 * tool_calls_failed_KIND} by kind of error; {@code tool_responses_truncated}; {@code NAME_calls} and {@code NAME_calls_failed} by tool, and
 * {@code NAME_METRIC} for the numbers that a tool gives. A call of a turn after which a limit ended the trajectory has been run neither
 * with success nor without. {@code NAME_reward} is the tool's reward for the state it was left in.
 *
 * <p>What a tool gives for a call is the reward of the turn, in {@code turns}. The trajectory's reward is what the rewards make of it.
 */
public class ToolEnv extends MultiTurnEnv {

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .build();
    private static final Duration LONGEST = Duration.ofDays(1);

    private final ToolRegistry registry;
    private final ToolCallFormat format;
    private final Set<ToolError.Kind> stopErrors = EnumSet.noneOf(ToolError.Kind.class);
    private ToolSession session;
    private boolean released;
    private ToolCallParser parser;
    private ArrayNode schemas;
    private ParsedTurn turn;

    /**
     * An environment for one trajectory.
     *
     * @param registry the tools
     * @param format how the model writes calls
     */
    public ToolEnv(ToolRegistry registry, ToolCallFormat format) {
        this.registry = registry;
        this.format = format;
    }

    /** Errors of tools that fail the trajectory; all others go back to the model. */
    protected final void stopOn(ToolError.Kind... kinds) {
        stopErrors.addAll(List.of(kinds));
    }

    /**
     * The schemas that the model is shown: as a rule those of the tools.
     *
     * @param all the schemas of the trajectory's tools, to be copied, not changed
     */
    protected List<ObjectNode> shownSchemas(List<ObjectNode> all) {
        return all;
    }

    /** A call as it is run: as a rule as the model wrote it. */
    protected ToolCall prepare(ToolCall call, State state) throws Exception {
        return call;
    }

    /** What the model is told of a call that did not work; as a rule the text that the tools have for it. */
    protected String errorText(ToolResult result) {
        return result.text();
    }

    // ---- the tools of a trajectory

    /**
     * Opens the tools that {@code tool_selection} of the row's {@code info} or {@code extra_info} names, as a rule all, with its {@code
     * tools_kwargs}; before anything that a subclass prepares.
     */
    @Setup(priority = 100)
    protected final void openTools(State state) {
        ObjectNode kwargs = state.info().path("tools_kwargs") instanceof ObjectNode object ? object : null;
        List<String> selection = selection(state.info().path("tool_selection"));
        hold(registry.open(kwargs, selection, state::countTokens, remaining(state)));
        List<ObjectNode> shown = shownSchemas(session.schemas());
        schemas = JsonNodeFactory.instance.arrayNode().addAll(shown);
        parser = format.parser(shown);
    }

    /** Tools that were opened after the trajectory had been given up are released at once: its cleanup is over. */
    private synchronized void hold(ToolSession opened) {
        session = opened;
        if (released) {
            opened.close();
        }
    }

    private static List<String> selection(JsonNode names) {
        if (!names.isArray()) {
            return null;
        }
        List<String> selected = new ArrayList<>();
        names.forEach(name -> selected.add(name.asText()));
        return selected;
    }

    /** Notes what the tools give for the state that they were left in. */
    @Cleanup(priority = -50)
    protected final void noteToolRewards(State state) {
        if (session == null || state.isAbandoned()) {
            return;
        }
        for (ToolReward given : session.calcRewards(state.limits().cleanupTimeout())) {
            if (given.error() == null) {
                state.addMetric(given.tool() + "_reward", given.reward());
            } else {
                state.addMetric("tool_rewards_failed", 1);
            }
        }
    }

    /** Releases the tools, after what a subclass cleans up. */
    @Cleanup(priority = -100)
    protected final synchronized void releaseTools() {
        released = true;
        if (session != null) {
            session.close();
        }
    }

    // ---- the model's turn

    @Override
    protected final JsonNode tools(State state) {
        return schemas.isEmpty() ? null : schemas;
    }

    @Override
    protected final Message completionMessage(State state, ModelTurn sampled) {
        TurnEnd end = sampled.finish() == ModelTurn.Finish.STOP ? TurnEnd.COMPLETE : TurnEnd.CUT_OFF;
        turn = sampled.message() == null
                ? parser.parse(sampled.textWithSpecialTokens(), end)
                : parser.number(sampled.message());
        count(state, "tool_calls", turn.calls().size() + turn.malformed().size());
        count(state, "tool_calls_malformed", turn.malformed().size());
        if (turn.calls().isEmpty()) {
            return Message.of("assistant", sampled.text());
        }
        ArrayNode calls = JsonNodeFactory.instance.arrayNode();
        for (ToolCall call : turn.calls()) {
            ObjectNode function = calls.addObject()
                    .put("id", call.id())
                    .put("type", "function")
                    .putObject("function");
            function.put("name", call.name()).set("arguments", parsed(call.arguments()));
        }
        return new Message("assistant", turn.content(), calls.toString(), null, null);
    }

    private static void count(State state, String metric, int number) {
        if (number > 0) {
            state.addMetric(metric, number);
        }
    }

    /** Arguments as JSON; as text where they are none. */
    static JsonNode parsed(String arguments) {
        try {
            return JSON.readTree(arguments);
        } catch (JsonProcessingException e) {
            return JsonNodeFactory.instance.textNode(arguments);
        }
    }

    /** The model has answered without a call; one that was cut off has not. */
    @Stop
    protected boolean noToolsCalled(State state) {
        return turn != null && !state.lastStep().isTruncated() && !turn.attemptsCalls();
    }

    // ---- the environment's answer

    @Override
    protected final List<Message> envResponse(State state) throws Exception {
        TreeMap<String, Message> answers = new TreeMap<>(); // ids count up in the order of the turn
        for (MalformedCall call : turn.malformed()) {
            count(state, "tool_calls_failed", 1);
            answers.put(call.id(), answer(call.id(), null, "Error: " + call.problem()));
        }
        List<ToolCall> prepared = new ArrayList<>();
        for (ToolCall call : turn.calls()) {
            prepared.add(prepare(call, state));
        }
        ToolResult stopping = null;
        List<ToolResult> results = session.callAll(prepared, remaining(state));
        for (ToolResult result : results) {
            note(result, state);
            ToolCall call = result.call();
            String text = result.succeeded() ? result.text() : errorText(result);
            answers.put(call.id(), answer(call.id(), call.name(), text));
            if (stopping == null
                    && !result.succeeded()
                    && stopErrors.contains(result.error().kind())) {
                stopping = result;
            }
        }
        if (stopping != null) {
            ToolError error = stopping.error();
            state.fail("tool_" + error.kind().metricName(), stopping.call().name() + ": " + error.message());
        }
        return List.copyOf(answers.values());
    }

    private void note(ToolResult result, State state) {
        String tool = result.call().name();
        boolean known = registry.names().contains(tool); // a name of the model's own is no name of a metric
        if (known) {
            state.addMetric(tool + "_calls", 1);
        }
        if (result.reward() != null) {
            state.addStepReward(result.reward());
        }
        result.metrics().forEach((name, value) -> state.addMetric(tool + "_" + name, value));
        if (result.truncated()) {
            state.addMetric("tool_responses_truncated", 1);
        }
        if (result.succeeded()) {
            state.addMetric("tool_calls_succeeded", 1);
            return;
        }
        state.addMetric("tool_calls_failed", 1);
        state.addMetric("tool_calls_failed_" + result.error().kind().metricName(), 1);
        if (known) {
            state.addMetric(tool + "_calls_failed", 1);
        }
    }

    private static Duration remaining(State state) {
        long nanos = state.remainingNanos();
        return nanos > LONGEST.toNanos() ? LONGEST : Duration.ofNanos(Math.max(1, nanos));
    }

    private static Message answer(String id, String name, String text) {
        return new Message("tool", text, null, id, name);
    }
}
