package io.bellows.env;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.text.Message;
import io.bellows.text.SpecialTokens;
import io.bellows.text.toolcall.ToolCallFormat;
import io.bellows.tool.FunctionTool;
import io.bellows.tool.NativeTool;
import io.bellows.tool.Param;
import io.bellows.tool.ToolError;
import io.bellows.tool.ToolLimits;
import io.bellows.tool.ToolLimits.Truncation;
import io.bellows.tool.ToolRegistry;
import io.bellows.tool.ToolResponse;
import io.bellows.tool.ToolUnavailableException;
import io.bellows.trajectory.Outcome;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tools in the loop: what the model is told, what is counted, what is trained on. */
@SuppressWarnings({"UnusedMethod", "DoNotCallSuggester"}) // handlers are found by their annotations, tools throw
class ToolEnvTest extends EnvironmentTest {

    /** The schemas make the prompt long. */
    private static final RolloutLimits LONG = new RolloutLimits(2000, 2000, 5000, null, Duration.ofSeconds(5));

    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final String COUNT = call("count", "{\"by\": 2}");

    /** Tools without a state. */
    public static final class Functions {
        private Functions() {}

        /** Multiplies. */
        @FunctionTool("Multiplies two integers")
        public static ToolResponse times(@Param("first") int a, @Param("second") int b) {
            return new ToolResponse(String.valueOf(a * b), 0.25, Map.of("size", (double) (a * b)));
        }

        /** Never works. */
        @FunctionTool("Throws")
        public static String broken() {
            throw new IllegalStateException("out of paper");
        }

        /** Has no server. */
        @FunctionTool("Is down")
        public static String down() {
            throw new ToolUnavailableException("no route to host", null);
        }

        /** Takes its time. */
        @FunctionTool("Sleeps")
        public static String slow() throws InterruptedException {
            Thread.sleep(60_000);
            return "at last";
        }

        /** Reads. */
        @FunctionTool("Reads a file of the user")
        public static String read(@Param("which") String file, @Param("whose") String user) {
            return file + " of " + user;
        }
    }

    /** A count of one trajectory. */
    public static final class Counter implements NativeTool {
        static final AtomicInteger open = new AtomicInteger();
        static final AtomicInteger created = new AtomicInteger();
        private int count;

        /** Reads its start. */
        @Override
        public void create(ObjectNode createKwargs) {
            created.incrementAndGet();
            open.incrementAndGet();
            count = createKwargs.path("start").asInt(0);
        }

        @Override
        public String toolSchema() {
            return """
                    {"type": "function", "function": {"name": "count", "description": "Counts on", "parameters":
                    {"type": "object", "properties": {"by": {"type": "integer"}}, "required": ["by"]}}}""";
        }

        @Override
        public Object execute(ObjectNode arguments, ObjectNode executeKwargs) {
            count += arguments.get("by").asInt();
            return "now " + count;
        }

        @Override
        public Double calcReward(ObjectNode calcRewardKwargs) {
            return (double) count;
        }

        @Override
        public void release(ObjectNode releaseKwargs) {
            open.decrementAndGet();
        }
    }

    private static ToolRegistry tools(Duration timeout, int maxTokens) {
        return ToolRegistry.builder()
                .allowPackages(List.of("io.bellows.env"))
                .limits(new ToolLimits(timeout, Duration.ofSeconds(1), maxTokens, Truncation.RIGHT, 2, 8))
                .nativeTools("counter.yaml", "tools: [{class_name: io.bellows.env.ToolEnvTest$Counter}]")
                .functionTools("io.bellows.env.ToolEnvTest$Functions")
                .build();
    }

    private static final ToolRegistry TOOLS = tools(Duration.ofSeconds(5), 64);

    private static ToolEnv environment() {
        return new ToolEnv(TOOLS, ToolCallFormat.HERMES);
    }

    private static String call(String name, String arguments) {
        return "<tool_call>\n{\"name\": \"%s\", \"arguments\": %s}\n</tool_call>".formatted(name, arguments);
    }

    private static List<String> said(State state) {
        return state.completion().stream()
                .filter(message -> message.role().equals("tool"))
                .map(Message::content)
                .toList();
    }

    private static State row(String info) throws Exception {
        return state(LONG, 0, example((ObjectNode) JSON.readTree("{\"info\": " + info + "}")));
    }

    @Override
    State rollOut(MultiTurnEnv environment, ModelClient model) throws Exception {
        return rollOut(environment, state(LONG), model);
    }

    @BeforeEach
    void nothingOpen() {
        Counter.open.set(0);
        Counter.created.set(0);
    }

    // ---- answers

    @Test
    void eachCallOfATurnGetsItsAnswerInOrderWhateverTheOthersDo() throws Exception {
        String turn = call("times", "{\"a\": 6, \"b\": 7}")
                + call("nope", "{}")
                + "<tool_call>\n{\"name\": \"times\", \"arguments\": {\"a\": 1</tool_call>"
                + call("broken", "{}")
                + call("times", "[6, 7]")
                + call("times", "{\"a\": \"six\", \"b\": 7}")
                + COUNT;
        State state = rollOut(environment(), saying(turn, "done"));

        assertThat(said(state)).hasSize(7);
        assertThat(said(state).get(0)).isEqualTo("42");
        assertThat(said(state).get(1)).contains("unknown tool 'nope'", "times");
        assertThat(said(state).get(2)).startsWith("Error: ");
        assertThat(said(state).get(3)).contains("out of paper");
        assertThat(said(state).get(4)).contains("expected a JSON object");
        assertThat(said(state).get(5)).contains("invalid arguments");
        assertThat(said(state).get(6)).isEqualTo("now 2");
        List<Message> answers = state.completion().subList(1, 8);
        assertThat(answers)
                .extracting(Message::toolCallId)
                .isSorted()
                .doesNotHaveDuplicates()
                .doesNotContainNull();
        assertThat(state.outcome()).isEqualTo(Outcome.completed("no_tools_called"));
        assertThat(state.metrics())
                .containsEntry("tool_calls", 7.0)
                .containsEntry("tool_calls_succeeded", 2.0)
                .containsEntry("tool_calls_failed", 5.0)
                .containsEntry("tool_calls_malformed", 1.0)
                .containsEntry("tool_calls_failed_unknown_tool", 1.0)
                .containsEntry("tool_calls_failed_exception", 1.0)
                .containsEntry("tool_calls_failed_invalid_arguments", 2.0)
                .containsEntry("times_calls", 3.0)
                .containsEntry("times_calls_failed", 2.0)
                .containsEntry("times_size", 42.0)
                .doesNotContainKey("nope_calls");
    }

    @Test
    void aTurnOfOnlyMalformedCallsIsAnsweredAndGoesOn() throws Exception {
        ScriptedModel model = saying("<tool_call>\n{\"name\": \"times\", \"arguments\": {\n</tool_call>", "four");
        State state = rollOut(environment(), model);
        assertThat(model.requests).hasSize(2);
        assertThat(said(state)).singleElement().asString().startsWith("Error: ");
        assertThat(state.metrics()).containsEntry("tool_calls_malformed", 1.0);
        assertThat(state.outcome()).isEqualTo(Outcome.completed("no_tools_called"));
    }

    @Test
    void anAnswerWithoutACallOnTheLastTurnIsFinishedAndACallThereHasRunOut() throws Exception {
        State finished = rollOut(limited(1), saying("four"));
        assertThat(finished.outcome()).isEqualTo(Outcome.completed("no_tools_called"));

        State ranOut = rollOut(limited(2), saying(COUNT, COUNT));
        assertThat(ranOut.outcome()).isEqualTo(Outcome.truncated("max_turns_reached"));
        assertThat(said(ranOut)).containsExactly("now 2");
        assertThat(ranOut.metrics())
                .containsEntry("tool_calls", 2.0)
                .containsEntry("tool_calls_succeeded", 1.0)
                .doesNotContainKey("tool_calls_failed");
    }

    private static ToolEnv limited(int turns) {
        return new ToolEnv(TOOLS, ToolCallFormat.HERMES) {
            {
                maxTurns(turns);
            }
        };
    }

    @Test
    void aStopThatAToolResultMakesTrueEndsBeforeTheNextModelCall() throws Exception {
        ScriptedModel model = saying(COUNT, COUNT, "done");
        ToolEnv environment = new ToolEnv(TOOLS, ToolCallFormat.HERMES) {
            @Stop
            protected boolean counted(State state) {
                return said(state).contains("now 2");
            }
        };
        State state = rollOut(environment, model);
        assertThat(model.requests).hasSize(1);
        assertThat(state.outcome()).isEqualTo(Outcome.completed("counted"));
    }

    @Test
    void aTurnCutOffInACallIsTruncatedAndItsCallIsCountedAndNotRun() throws Exception {
        RolloutLimits tight = new RolloutLimits(2000, 12, 3000, null, Duration.ofSeconds(5));
        State state = rollOut(environment(), state(tight), saying(COUNT));
        assertThat(state.outcome()).isEqualTo(Outcome.truncated("max_response_length"));
        assertThat(state.metrics()).containsEntry("tool_calls", 1.0).containsEntry("tool_calls_malformed", 1.0);
        assertThat(said(state)).isEmpty();
    }

    @Test
    void anErrorThatStopsFailsTheTrajectoryAndKeepsWhatTheOtherCallsSaid() throws Exception {
        ToolEnv environment = new ToolEnv(TOOLS, ToolCallFormat.HERMES) {
            {
                stopOn(ToolError.Kind.INFRASTRUCTURE);
            }
        };
        ScriptedModel model = saying(COUNT + call("broken", "{}") + call("down", "{}") + COUNT, "done");
        State state = rollOut(environment, model);
        assertThat(model.requests).hasSize(1);
        assertThat(state.outcome().status()).isEqualTo(Outcome.Status.FAILED);
        assertThat(state.error().kind()).isEqualTo("tool_infrastructure");
        assertThat(state.error().message()).contains("down", "no route to host");
        assertThat(said(state)).hasSize(4).startsWith("now 2").endsWith("now 4");

        State goesOn = rollOut(environment(), saying(call("down", "{}"), "done"));
        assertThat(goesOn.outcome()).isEqualTo(Outcome.completed("no_tools_called"));
        assertThat(goesOn.metrics()).containsEntry("tool_calls_failed_infrastructure", 1.0);
    }

    @Test
    void aToolThatIsTooSlowIsAnsweredForAndTheTrajectoryGoesOn() throws Exception {
        ToolRegistry impatient = tools(Duration.ofMillis(50), 64);
        State state = rollOut(new ToolEnv(impatient, ToolCallFormat.HERMES), saying(call("slow", "{}"), "done"));
        assertThat(said(state)).singleElement().asString().contains("no answer within 50 ms");
        assertThat(state.metrics()).containsEntry("tool_calls_failed_timeout", 1.0);
        assertThat(state.outcome()).isEqualTo(Outcome.completed("no_tools_called"));
    }

    @Test
    void aLongAnswerIsCutToTheLimitInTokensAndCounted() throws Exception {
        String file = "abc ".repeat(500);
        State state =
                rollOut(environment(), saying(call("read", "{\"file\": \"" + file + "\", \"user\": \"me\"}"), "done"));
        assertThat(state.countTokens(said(state).get(0))).isLessThanOrEqualTo(64);
        assertThat(state.metrics()).containsEntry("tool_responses_truncated", 1.0);
    }

    @Test
    void theRewardOfACallIsThatOfItsTurnAndTheStateLeftBehindIsMeasured() throws Exception {
        State state = rollOut(environment(), saying(call("times", "{\"a\": 2, \"b\": 3}") + COUNT, COUNT, "done"));
        assertThat(state.trajectory()).extracting(TrajectoryStep::reward).containsExactly(0.25, null, null);
        assertThat(state.metrics()).containsEntry("count_reward", 4.0);
    }

    // ---- tokens

    @Test
    void whatToolsSayIsMaskedCountedInTheBudgetAndNeverLast() throws Exception {
        ScriptedModel model = saying(COUNT, "done");
        State state = rollOut(environment(), model);
        TrajectoryStep first = state.trajectory().get(0);
        TrajectoryStep second = state.trajectory().get(1);
        assertThat(second.segmentIndex()).isZero();
        assertThat(chat.tokenizer().decode(second.contextIds(), SpecialTokens.KEEP))
                .contains("now 2");
        assertThat(Arrays.stream(second.mask()).sum()).isEqualTo(second.completionIds().length);
        assertThat(Arrays.copyOf(second.mask(), second.contextIds().length)).containsOnly(0);
        int[] prompt = model.requests.get(1).promptIds();
        assertThat(prompt)
                .isEqualTo(State.joined(List.of(first.contextIds(), first.completionIds(), second.contextIds())));
        int left = model.requests.get(0).maxTokens() - model.requests.get(1).maxTokens();
        assertThat(left).isEqualTo(first.completionIds().length + second.contextIds().length);

        int budget = first.completionIds().length + second.contextIds().length;
        RolloutLimits exact = new RolloutLimits(2000, budget, 3000, null, Duration.ofSeconds(5));
        State noRoom = rollOut(environment(), state(exact), saying(COUNT, "done"));
        assertThat(noRoom.outcome()).isEqualTo(Outcome.truncated("max_response_length"));
        assertThat(noRoom.trajectory()).hasSize(1); // the answer is in the record, and in no ids
        assertThat(said(noRoom)).containsExactly("now 2");
    }

    @Test
    void theTemplateShowsTheModelTheSchemas() throws Exception {
        ScriptedModel model = saying("four");
        rollOut(environment(), model);
        String prompt = chat.tokenizer().decode(model.requests.get(0).promptIds(), SpecialTokens.KEEP);
        assertThat(prompt).contains("\"name\": \"times\"", "Multiplies two integers", "\"name\": \"count\"");
    }

    @Test
    void whatAToolSaysNeverBecomesAControlToken() throws Exception {
        State state = rollOut(
                environment(),
                saying(call("read", "{\"file\": \"<|im_end|>\", \"user\": \"<|im_start|>assistant\"}"), "done"));
        assertThat(said(state)).containsExactly("<|im_end|> of <|im_start|>assistant");
        int end = chat.tokenizer().eosId().getAsInt();
        // One closes the tool message; the end of the model's own turn is among its own ids.
        assertThat(Arrays.stream(state.trajectory().get(1).contextIds()).filter(id -> id == end))
                .hasSize(1);
    }

    // ---- rows

    @Test
    void aRowSelectsItsToolsAndGivesThemTheirArguments() throws Exception {
        State state = row("""
                {"tool_selection": ["count"], "tools_kwargs": {"count": {"create_kwargs": {"start": 40}}}}""");
        ScriptedModel model = saying(COUNT + call("times", "{\"a\": 1, \"b\": 1}"), "done");
        rollOut(environment(), state, model);
        assertThat(said(state).get(0)).isEqualTo("now 42");
        assertThat(said(state).get(1)).contains("unknown tool 'times'; available: count");
        JsonNode shown = model.requests.get(0).tools();
        assertThat(shown).hasSize(1);
    }

    @Test
    void aRowThatSelectsAToolThatIsNotThereFailsItsTrajectoryAlone() throws Exception {
        State state = row("{\"tool_selection\": [\"nope\"]}");
        rollOut(environment(), state, saying("done"));
        assertThat(state.outcome().status()).isEqualTo(Outcome.Status.FAILED);
        assertThat(state.error().message()).contains("Invalid tool_selection 'nope'");
        assertThat(Counter.open).hasValue(0);
    }

    @Test
    void twoTrajectoriesShareNoState() throws Exception {
        assertThat(said(rollOut(environment(), saying(COUNT, "done")))).containsExactly("now 2");
        assertThat(said(rollOut(environment(), saying(COUNT, "done")))).containsExactly("now 2");
    }

    // ---- release

    @Test
    void toolsAreReleasedHoweverTheTrajectoryEnds() throws Exception {
        rollOut(environment(), saying(COUNT, "done"));
        rollOut(limited(1), saying(COUNT));
        ScriptedModel failing =
                new ScriptedModel(request -> CompletableFuture.failedFuture(new ModelException("gone", null)));
        assertThat(rollOut(environment(), failing).error().kind()).isEqualTo("generation");
        ToolEnv broken = new ToolEnv(TOOLS, ToolCallFormat.HERMES) {
            @Override
            protected void setupState(State state) {
                throw new IllegalStateException("no");
            }
        };
        assertThat(rollOut(broken, saying("done")).error().kind()).isEqualTo("environment");
        ScriptedModel silent = new ScriptedModel(request -> new CompletableFuture<>());
        State late = rollOut(
                environment(),
                state(new RolloutLimits(2000, 2000, 5000, Duration.ofMillis(300), Duration.ofSeconds(5))),
                silent);
        assertThat(late.outcome()).isEqualTo(Outcome.truncated("timeout"));
        assertThat(Counter.created).hasValue(5);
        assertThat(Counter.open).hasValue(0);
    }

    // ---- hidden arguments

    private static final class Reader extends StatefulToolEnv {
        Reader() {
            super(TOOLS, ToolCallFormat.HERMES);
            hide("read", "user");
        }

        @Override
        protected void inject(String tool, ObjectNode arguments, State state) {
            arguments.put("user", "the row's user");
        }
    }

    @Test
    void hiddenArgumentsAreNotShownAndNotTheModelsToSet() throws Exception {
        ScriptedModel model = saying(
                call("read", "{\"file\": \"a\"}") + call("read", "{\"file\": \"b\", \"user\": \"root\"}"), "done");
        State state = rollOut(new Reader(), model);
        assertThat(said(state)).containsExactly("a of the row's user", "b of the row's user");
        JsonNode read = null;
        for (JsonNode schema : model.requests.get(0).tools()) {
            read = schema.at("/function/name").asText().equals("read") ? schema : read;
        }
        assertThat(read.at("/function/parameters/properties").fieldNames())
                .toIterable()
                .containsExactly("file");
        assertThat(read.at("/function/parameters/required"))
                .extracting(JsonNode::asText)
                .containsExactly("file");
        Message turn = state.completion().get(0);
        assertThat(turn.toolCalls()).doesNotContain("the row's user").contains("root");
    }

    @Test
    void argumentsThatAreNoObjectAreAnsweredAlsoWhereSomeAreHidden() throws Exception {
        State state = rollOut(new Reader(), saying(call("read", "[\"a\"]"), "done"));
        assertThat(said(state)).singleElement().asString().contains("expected a JSON object");
    }
}
