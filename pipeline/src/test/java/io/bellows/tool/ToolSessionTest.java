package io.bellows.tool;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.text.toolcall.ToolCall;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a trajectory gets from its tools, whatever they do. */
@Timeout(60)
class ToolSessionTest {

    private static final Duration TIME = Duration.ofMinutes(1);
    private static final AtomicInteger RELEASED = new AtomicInteger();
    private static final AtomicInteger NOW = new AtomicInteger();
    private static final AtomicInteger MOST = new AtomicInteger();
    private static final AtomicBoolean SPIN = new AtomicBoolean();

    /** A tool that does what it is told to. */
    public static final class Chaos implements NativeTool {
        private int calls;
        private String greeting = "";

        @Override
        public String toolSchema() {
            return """
                    {"type": "function", "function": {"name": "chaos", "parameters": {"type": "object",
                     "properties": {"do": {"type": "string"}}, "required": ["do"], "additionalProperties": false}}}""";
        }

        @Override
        public void create(ObjectNode createKwargs) {
            if (createKwargs.has("fail")) {
                throw new IllegalStateException("no set-up");
            }
            greeting = createKwargs.path("greeting").asText("");
        }

        @Override
        public Object execute(ObjectNode arguments, ObjectNode executeKwargs) throws Exception {
            calls++;
            return switch (arguments.get("do").asText()) {
                case "count" -> greeting + calls + executeKwargs.path("suffix").asText("");
                case "throw" -> throw new java.io.IOException("broken pipe");
                case "sleep" -> {
                    Thread.sleep(60_000);
                    yield "late";
                }
                case "spin" -> {
                    while (SPIN.get()) {
                        Thread.onSpinWait();
                    }
                    yield "ended";
                }
                case "error" -> throw new AssertionError("an Error");
                case "overflow" -> throw new StackOverflowError("deep");
                case "memory" -> throw new OutOfMemoryError("heap");
                case "link" -> throw new NoClassDefFoundError("gone");
                case "unavailable" -> throw new ToolUnavailableException("service down", null);
                case "big" -> "0123456789".repeat(500_000);
                case "bytes" -> new byte[] {'a', (byte) 0xff, 'b'};
                case "surrogate" -> "a\ud800b";
                case "null" -> null;
                case "optional" -> Optional.of(7);
                case "map" -> Map.of("k", List.of(1, 2));
                case "object" -> URI.create("built");
                case "response" -> new ToolResponse("rewarded", 0.5, Map.of("rows", 3.0));
                case "nan" -> new ToolResponse("bad", Double.NaN, Map.of());
                case "unwritable" -> {
                    List<Object> inItself = new ArrayList<>();
                    inItself.add(List.of(inItself));
                    yield inItself;
                }
                default -> throw new IllegalArgumentException();
            };
        }

        @Override
        public Double calcReward(ObjectNode calcRewardKwargs) {
            return calcRewardKwargs.path("weight").asDouble(1) * calls;
        }

        @Override
        public void release(ObjectNode releaseKwargs) {
            RELEASED.incrementAndGet();
            if (releaseKwargs.has("fail")) {
                throw new AssertionError("cannot release");
            }
        }
    }

    /** Functions that measure how many run at once. */
    public static final class Functions {
        private static volatile CountDownLatch together = new CountDownLatch(0);
        private int calls;

        /** Waits for others. */
        @FunctionTool("waits until as many as wanted run")
        public static String meet(int number) throws InterruptedException {
            MOST.accumulateAndGet(NOW.incrementAndGet(), Math::max);
            together.countDown();
            together.await(20, TimeUnit.SECONDS);
            NOW.decrementAndGet();
            return "met " + number;
        }

        /** A future. */
        @FunctionTool("answers later")
        public static CompletableFuture<String> later(String text) {
            return CompletableFuture.supplyAsync(() -> text);
        }

        /** State of the trajectory. */
        @FunctionTool("counts")
        public int counted() {
            return ++calls;
        }
    }

    @BeforeEach
    void nothingCounted() {
        RELEASED.set(0);
        NOW.set(0);
        MOST.set(0);
        SPIN.set(true);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    count | 1
                    optional | 7
                    map | {"k":[1,2]}
                    object | built
                    response | rewarded
                    bytes | a\ufffdb
                    surrogate | a\ufffdb
                    null | ''
                    """)
    void everyKindOfAnswerBecomesAText(String what, String text) {
        ToolResult result = callOnce(what);

        assertThat(result.error()).isNull();
        assertThat(result.text()).isEqualTo(text);
    }

    @Test
    void aResponseBringsRewardAndMetrics() {
        ToolResult result = callOnce("response");

        assertThat(result.reward()).isEqualTo(0.5);
        assertThat(result.metrics()).containsExactly(Map.entry("rows", 3.0));
    }

    @ParameterizedTest
    @CsvSource({
        "throw, EXCEPTION, Error: broken pipe",
        "error, EXCEPTION, Error: an Error",
        "overflow, EXCEPTION, Error: deep",
        "memory, INFRASTRUCTURE, Error: heap",
        "link, INFRASTRUCTURE, Error: gone",
        "unavailable, INFRASTRUCTURE, Error: service down",
    })
    void whateverIsThrownIsAnAnswer(String what, ToolError.Kind kind, String text) {
        ToolResult result = callOnce(what);

        assertThat(result.error().kind()).isEqualTo(kind);
        assertThat(result.text()).isEqualTo(text);
        assertThat(result.reward()).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"nan", "unwritable"})
    void answersThatCannotBeRecordedAreFaultsOfTheTool(String what) {
        assertThat(callOnce(what).error().kind()).isEqualTo(ToolError.Kind.EXCEPTION);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    {} | INVALID_ARGUMENTS
                    {"do": 1} | INVALID_ARGUMENTS
                    {"do": "count", "more": 1} | INVALID_ARGUMENTS
                    [1] | INVALID_ARGUMENTS
                    {"do": | BAD_JSON
                    {"do": "count"} x | BAD_JSON
                    {"do": "count", "do": "throw"} | BAD_JSON
                    """)
    void argumentsAreCheckedBeforeTheToolSeesThem(String arguments, ToolError.Kind kind) {
        try (ToolSession session = registry(limits(1)).open(null, null, String::length, TIME)) {
            ToolResult result = session.call(Tools.call("chaos", arguments), TIME);
            assertThat(result.error().kind()).isEqualTo(kind);
            assertThat(session.call(chaos("count"), TIME).text()).isEqualTo("1");
        }
    }

    @Test
    void aToolThatSleepsIsInterruptedAtItsLimitAndLeavesNothingBehind() {
        ToolRegistry tools = registry(limits(1));
        try (ToolSession session = tools.open(null, null, String::length, TIME)) {
            ToolResult result = session.call(chaos("sleep"), TIME);
            assertThat(result.error().kind()).isEqualTo(ToolError.Kind.TIMEOUT);
            assertThat(session.call(chaos("count"), TIME).text()).isEqualTo("2");
        }
        assertThat(tools.abandonedCallsTotal()).isZero();
        assertThat(RELEASED).hasValue(1);
    }

    @Test
    void toolsThatSpinAreGivenUpOnCountedAndBounded() throws Exception {
        ToolRegistry tools = registry(limits(1));
        for (int i = 0; i < 2; i++) {
            try (ToolSession session = tools.open(null, null, String::length, TIME)) {
                assertThat(session.call(chaos("spin"), TIME).error().kind()).isEqualTo(ToolError.Kind.TIMEOUT);
                assertThat(session.call(chaos("count"), TIME).error().kind())
                        .as("one thread at a time in an instance")
                        .isEqualTo(ToolError.Kind.TIMEOUT);
            }
        }
        assertThat(tools.abandonedCalls()).isEqualTo(2);
        assertThat(RELEASED).as("an instance in use is not released").hasValue(0);
        try (ToolSession session = tools.open(null, null, String::length, TIME)) {
            ToolResult refused = session.call(chaos("count"), TIME);
            assertThat(refused.error().kind()).isEqualTo(ToolError.Kind.INFRASTRUCTURE);
            assertThat(refused.text()).isEqualTo("Error: the tool chaos is not available");
        }

        SPIN.set(false);
        while (tools.abandonedCalls() > 0) {
            Thread.onSpinWait();
        }
        assertThat(RELEASED).as("released when the call ended at last").hasValueGreaterThanOrEqualTo(2);
        assertThat(tools.abandonedCallsTotal()).isEqualTo(2);
        try (ToolSession session = tools.open(null, null, String::length, TIME)) {
            assertThat(session.call(chaos("count"), TIME).text()).isEqualTo("1");
        }
    }

    @Test
    void noTimeLeftMeansNoCall() {
        try (ToolSession session = registry(limits(1)).open(null, null, String::length, TIME)) {
            assertThat(session.call(chaos("count"), Duration.ZERO).error().kind())
                    .isEqualTo(ToolError.Kind.TIMEOUT);
            assertThat(session.call(chaos("count"), TIME).text()).isEqualTo("1");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"LEFT", "RIGHT"})
    void aLongAnswerIsShortenedToItsTokens(ToolLimits.Truncation side) {
        ToolLimits limits = new ToolLimits(Duration.ofSeconds(20), Duration.ofSeconds(5), 36, side, 1, 2);
        try (ToolSession session = registry(limits).open(null, null, String::length, TIME)) {
            ToolResult result = session.call(chaos("big"), TIME);
            assertThat(result.truncated()).isTrue();
            assertThat(result.text()).hasSize(36).contains("...(truncated)...");
            assertThat(
                            side == ToolLimits.Truncation.LEFT
                                    ? result.text().endsWith("0123456789")
                                    : result.text().startsWith("0123456789"))
                    .isTrue();
        }
    }

    @Test
    void theMiddleOfALongAnswerGoesByDefault() {
        ToolLimits limits =
                new ToolLimits(Duration.ofSeconds(20), Duration.ofSeconds(5), 37, ToolLimits.Truncation.MIDDLE, 1, 2);
        try (ToolSession session = registry(limits).open(null, null, String::length, TIME)) {
            assertThat(session.call(chaos("big"), TIME).text()).isEqualTo("0123456789...(truncated)...0123456789");
            assertThat(session.call(chaos("throw"), TIME).truncated()).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void atMostSoManyCallsOfATurnRunAtOnceAndAllAreAnsweredInOrder(int parallel) {
        Functions.together = new CountDownLatch(parallel);
        List<ToolCall> turn = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            turn.add(Tools.call("meet", "{\"number\": " + i + "}"));
        }
        try (ToolSession session = registry(limits(parallel)).open(null, null, String::length, TIME)) {
            assertThat(session.callAll(turn, TIME))
                    .extracting(ToolResult::text)
                    .containsExactly("met 0", "met 1", "met 2", "met 3", "met 4", "met 5");
        }
        assertThat(MOST).hasValue(parallel);
    }

    @Test
    void callsOfOneStatefulToolNeverOverlap() {
        List<ToolCall> turn = List.of(chaos("count"), chaos("count"), Tools.call("counted", "{}"), chaos("count"));
        try (ToolSession session = registry(limits(4)).open(null, null, String::length, TIME)) {
            assertThat(session.callAll(turn, TIME)).extracting(ToolResult::text).containsExactly("1", "2", "1", "3");
        }
    }

    @Test
    void twoTrajectoriesNeverShareState() {
        ToolRegistry tools = registry(limits(1));
        try (ToolSession one = tools.open(null, null, String::length, TIME);
                ToolSession other = tools.open(null, null, String::length, TIME)) {
            assertThat(one.call(chaos("count"), TIME).text()).isEqualTo("1");
            assertThat(one.call(Tools.call("counted", "{}"), TIME).text()).isEqualTo("1");
            assertThat(other.call(chaos("count"), TIME).text()).isEqualTo("1");
            assertThat(other.call(Tools.call("counted", "{}"), TIME).text()).isEqualTo("1");
        }
        assertThat(RELEASED).hasValue(2);
    }

    @Test
    void futuresAreAwaited() {
        try (ToolSession session = registry(limits(1)).open(null, null, String::length, TIME)) {
            assertThat(session.call(Tools.call("later", "{\"text\": \"hi\"}"), TIME)
                            .text())
                    .isEqualTo("hi");
        }
    }

    @Test
    void aRowGivesItsToolsArguments() throws Exception {
        try (ToolSession session = registry(limits(1)).open(json("""
                {"chaos": {"create_kwargs": {"greeting": "n="}, "execute_kwargs": {"suffix": "!"},
                           "calc_reward_kwargs": {"weight": 0.25}, "release_kwargs": null}, "other": null}"""), null, String::length, TIME)) {
            assertThat(session.call(chaos("count"), TIME).text()).isEqualTo("n=1!");
            assertThat(session.calcRewards(TIME)).containsExactly(new ToolReward("chaos", 0.25, null));
        }
    }

    @Test
    void aToolThatCannotBeSetUpAnswersWithAnErrorAndIsReleased() throws Exception {
        try (ToolSession session = registry(limits(1))
                .open(json("{\"chaos\": {\"create_kwargs\": {\"fail\": true}}}"), null, String::length, TIME)) {
            assertThat(session.call(chaos("count"), TIME).error().kind()).isEqualTo(ToolError.Kind.INFRASTRUCTURE);
            assertThat(session.call(Tools.call("counted", "{}"), TIME).text()).isEqualTo("1");
        }
        assertThat(RELEASED).hasValue(1);
    }

    @Test
    void aReleaseThatFailsIsCountedAndHarmsNobody() throws Exception {
        ToolRegistry tools = registry(limits(1));
        ToolSession session =
                tools.open(json("{\"chaos\": {\"release_kwargs\": {\"fail\": true}}}"), null, String::length, TIME);
        Thread.currentThread().interrupt();
        session.close();
        session.close();

        assertThat(Thread.interrupted()).as("still interrupted").isTrue();
        assertThat(RELEASED).hasValue(1);
        assertThat(tools.releaseFailures()).isEqualTo(1);
    }

    @Test
    void bytesOfAnEncodingOtherThanUtf8BecomeCleanText() {
        String text = callOnce("bytes").text();

        assertThat(new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8))
                .isEqualTo(text);
    }

    private static ToolResult callOnce(String what) {
        try (ToolSession session = registry(ToolLimits.defaults()).open(null, null, String::length, TIME)) {
            return session.call(chaos(what), TIME);
        }
    }

    private static ToolRegistry registry(ToolLimits limits) {
        return ToolRegistry.builder()
                .nativeTools("tools.yaml", "tools: [{class_name: '" + Chaos.class.getName() + "'}]")
                .functionTools(Functions.class.getName())
                .limits(limits)
                .build();
    }

    private static ToolLimits limits(int parallel) {
        return new ToolLimits(
                Duration.ofSeconds(1), Duration.ofSeconds(5), 256, ToolLimits.Truncation.MIDDLE, parallel, 2);
    }

    private static ToolCall chaos(String what) {
        return Tools.call("chaos", "{\"do\": \"" + what + "\"}");
    }

    private static ObjectNode json(String text) throws Exception {
        return (ObjectNode) new JsonMapper().readTree(text);
    }
}
