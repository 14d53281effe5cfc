package io.bellows.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.bellows.env.ModelClient.Call;
import io.bellows.env.ModelException;
import io.bellows.env.ModelRequest;
import io.bellows.env.ModelRequest.TrajectoryId;
import io.bellows.env.ModelTurn;
import io.bellows.text.Message;
import io.bellows.text.Tokenizer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpHeaders;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ServerPoolTest {

    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final String KEY = "a-secret-of-this-test";
    private static final String ANSWER = """
            {"choices": [{"token_ids": [5, 6], "logprobs": {"token_logprobs": [-0.5, -0.25]}, "finish_reason": "stop"}]}""";

    private static Tokenizer tokenizer;

    private final ManualTime time = new ManualTime();
    private final List<ScriptedServer> servers = new ArrayList<>();

    @BeforeAll
    static void load() throws IOException {
        tokenizer = Tokenizer.load(Path.of("../data-samples/starter"));
    }

    @AfterAll
    static void free() {
        tokenizer.close();
    }

    @AfterEach
    void stop() {
        servers.forEach(ScriptedServer::close);
    }

    private ScriptedServer server(ScriptedServer.Script script) {
        ScriptedServer server = new ScriptedServer(script);
        servers.add(server);
        return server;
    }

    private ServerPool pool(Protocol protocol, ScriptedServer... asked) {
        return pool(
                protocol, List.of(asked).stream().map(ScriptedServer::address).toList());
    }

    private ServerPool pool(Protocol protocol, List<URI> addresses) {
        return new ServerPool(
                new Servers(addresses, "small", protocol, "THE_KEY", Duration.ofMinutes(10), 3),
                new ServerSampling(0.5, 20, 0.9, 0.1, List.of("END")),
                tokenizer,
                request -> 11,
                Map.of("THE_KEY", KEY)::get,
                time);
    }

    private static ModelRequest request(int position) {
        return new ModelRequest(
                new TrajectoryId(position, 0), 1, List.of(Message.of("user", "Hi")), null, new int[] {1, 2, 3}, 8);
    }

    private static ModelTurn get(Call call) throws Exception {
        return call.turn().get(1, TimeUnit.MINUTES);
    }

    private static Throwable failure(Call call) {
        try {
            throw new AssertionError("there is an answer: " + get(call));
        } catch (ExecutionException e) {
            return e.getCause();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void idsGoInAndIdsAndLogProbsComeOut() throws Exception {
        ScriptedServer server = server((exchange, number) -> ScriptedServer.reply(exchange, 200, ANSWER));

        ModelTurn turn = get(pool(Protocol.COMPLETIONS, server).generate(request(0)));

        assertThat(turn.ids()).containsExactly(5, 6);
        assertThat(turn.logProbs()).containsExactly(-0.5f, -0.25f);
        assertThat(turn.finish()).isEqualTo(ModelTurn.Finish.STOP);
        assertThat(turn.retries()).isZero();
        ScriptedServer.Received received = server.received.get(0);
        assertThat(received.path()).isEqualTo("/v1/completions");
        assertThat(received.header("Authorization")).isEqualTo("Bearer " + KEY);
        JsonNode expected = JSON.readTree("""
                {"prompt": [1, 2, 3], "max_tokens": 8, "logprobs": 1, "return_token_ids": true, "model": "small", "temperature": 0.5,
                 "seed": 11, "top_p": 0.9, "top_k": 20, "min_p": 0.1, "stop": ["END"]}""");
        received.body().properties().forEach(field -> {
            if (!field.getKey().equals("stop_token_ids")) {
                assertThat(field.getValue()).as(field.getKey()).isEqualTo(expected.get(field.getKey()));
            }
        });
        assertThat(received.body().path("stop_token_ids")).isEqualTo(JSON.valueToTree(tokenizer.stopIds()));
    }

    @Test
    void messagesGoInAndAMessageWithItsCallsComesOut() throws Exception {
        ScriptedServer server = server((exchange, number) -> ScriptedServer.reply(exchange, 200, """
                {"choices": [{"finish_reason": "tool_calls", "message": {"role": "assistant", "content": null, "tool_calls": [
                 {"id": "x", "type": "function", "function": {"name": "f", "arguments": "{\\"a\\": 1}"}}]}}]}"""));
        JsonNode tools = JSON.readTree("[{\"type\": \"function\", \"function\": {\"name\": \"f\"}}]");
        String calls =
                "[{\"id\": \"y\", \"type\": \"function\", \"function\": {\"name\": \"f\", \"arguments\": {\"a\": 2}}}]";
        List<Message> messages = List.of(
                Message.of("user", "Hi"),
                new Message("assistant", "", calls, null, null),
                new Message("tool", "2", null, "y", "f"));

        ModelTurn turn = get(pool(Protocol.CHAT, server)
                .generate(new ModelRequest(new TrajectoryId(0, 0), 1, messages, tools, new int[] {1}, 8)));

        assertThat(turn.message().content()).isEmpty();
        assertThat(JSON.readTree(turn.message().toolCalls())
                        .at("/0/function/name")
                        .asText())
                .isEqualTo("f");
        assertThat(turn.ids()).hasSizeGreaterThan(1).doesNotContain(-1);
        assertThat(turn.logProbs()).as("not known").isEmpty();
        ScriptedServer.Received received = server.received.get(0);
        assertThat(received.path()).isEqualTo("/v1/chat/completions");
        assertThat(received.body().path("tools")).isEqualTo(tools);
        assertThat(received.body()
                        .at("/messages/1/tool_calls/0/function/arguments")
                        .textValue())
                .as("the protocol has arguments as text")
                .isEqualTo("{\"a\":2}");
        assertThat(received.body().path("max_completion_tokens").intValue()).isEqualTo(8);
    }

    @Test
    void aJudgeNeedsNoTokenizer() throws Exception {
        ScriptedServer server = server((exchange, number) -> ScriptedServer.reply(
                exchange, 200, "{\"choices\": [{\"finish_reason\": \"stop\", \"message\": {\"content\": \"yes\"}}]}"));
        ServerPool judge = new ServerPool(
                new Servers(List.of(server.address()), "judge", Protocol.CHAT, null, Duration.ofMinutes(1), 0),
                ServerSampling.GREEDY,
                null,
                request -> 0);

        assertThat(get(judge.generate(request(0))).text()).isEqualTo("yes");
        assertThat(server.received.get(0).headers()).doesNotContainKey("Authorization");
        judge.close();
    }

    @Test
    void aServerThatIsBusyIsAskedAgainWhenItsTimeIsOverAndUnderAnotherId() throws Exception {
        ScriptedServer server = server((exchange, number) -> {
            if (number == 1) {
                exchange.getResponseHeaders().add("Retry-After", "7");
                ScriptedServer.reply(exchange, 429, "busy");
            } else {
                ScriptedServer.reply(exchange, 200, ANSWER);
            }
        });

        Call call = pool(Protocol.COMPLETIONS, server).generate(request(0));
        time.await(2); // the limit, and the pause
        time.pass(Duration.ofMillis(6_999));
        assertThat(server.received).hasSize(1);
        time.pass(Duration.ofSeconds(2));

        assertThat(get(call).retries()).isEqualTo(1);
        assertThat(server.received.get(0).header("X-Request-Id"))
                .isNotEqualTo(server.received.get(1).header("X-Request-Id"));
        assertThat(server.received.get(0).header("X-Session-Id"))
                .isEqualTo(server.received.get(1).header("X-Session-Id"));
    }

    @Test
    void aDeadServerIsTakenOutAndTriedAgainLater() throws Exception {
        ScriptedServer gone = new ScriptedServer((exchange, number) -> {});
        gone.close();
        ScriptedServer alive = server((exchange, number) -> ScriptedServer.reply(exchange, 200, ANSWER));
        ServerPool pool = pool(Protocol.COMPLETIONS, gone, alive);

        int retries = 0;
        for (int position = 0; position < 20; position++) {
            retries += get(pool.generate(request(position))).retries();
        }
        assertThat(retries).as("one for the one time that it was asked").isEqualTo(1);
        assertThat(alive.received).hasSize(20);

        time.pass(Duration.ofMinutes(1));
        retries = 0;
        for (int position = 20; position < 40; position++) {
            retries += get(pool.generate(request(position))).retries();
        }
        assertThat(retries).as("it was tried again, and is still dead").isEqualTo(1);
    }

    @Test
    void aConnectionThatBreaksIsTriedOnTheOtherServer() throws Exception {
        ScriptedServer breaking = server((exchange, number) -> exchange.close());
        ScriptedServer alive = server((exchange, number) -> ScriptedServer.reply(exchange, 200, ANSWER));
        ServerPool pool = pool(Protocol.COMPLETIONS, breaking, alive);

        int retries = 0;
        for (int position = 0; position < 20; position++) {
            retries += get(pool.generate(request(position))).retries();
        }

        assertThat(retries).isEqualTo(1);
        assertThat(breaking.received).hasSize(1);
    }

    @Test
    void turnsOfATrajectoryStayWithOneServerAndOthersGoToTheLeastBusyOne() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        ScriptedServer.Script slow = (exchange, number) -> {
            go.await();
            ScriptedServer.reply(exchange, 200, ANSWER);
        };
        ScriptedServer one = server(slow);
        ScriptedServer two = server(slow);
        ServerPool pool = pool(Protocol.COMPLETIONS, one, two);

        List<Call> calls = new ArrayList<>();
        for (int position = 0; position < 6; position++) {
            calls.add(pool.generate(request(position)));
        }
        calls.add(pool.generate(request(0)));
        calls.add(pool.generate(request(0)));
        go.countDown();
        for (Call call : calls) {
            get(call);
        }

        List<Integer> sizes = List.of(one.received.size(), two.received.size());
        assertThat(sizes).as("3 each, and two more of the first trajectory").containsExactlyInAnyOrder(3, 5);
    }

    /** Complaint 40: long generations are sent twice, and both answers are stored. */
    @Test
    void whatTookTooLongIsNotSentAgainAndItsLateAnswerCountsForNothing() throws Exception {
        CountDownLatch lateAnswer = new CountDownLatch(1);
        CompletableFuture<Boolean> asked = new CompletableFuture<>();
        CompletableFuture<Boolean> answered = new CompletableFuture<>();
        ScriptedServer server = server((exchange, number) -> {
            asked.complete(true);
            lateAnswer.await();
            try {
                ScriptedServer.reply(exchange, 200, ANSWER);
            } finally {
                answered.complete(true);
            }
        });
        ServerPool pool = pool(Protocol.COMPLETIONS, server);
        List<String> outcomes = new ArrayList<>();

        Call call = pool.generate(request(0));
        CompletableFuture<Void> noted = call.turn().handle((turn, failure) -> {
            outcomes.add(failure == null ? "an answer" : failure.getMessage());
            return null;
        });
        asked.get(1, TimeUnit.MINUTES);
        time.pass(Duration.ofMinutes(11));
        noted.get(1, TimeUnit.MINUTES);
        lateAnswer.countDown();
        answered.get(1, TimeUnit.MINUTES);
        time.pass(Duration.ofMinutes(11)); // whatever waits to ask again would do so now

        assertThat(outcomes)
                .singleElement()
                .asString()
                .startsWith("Cannot wait longer for")
                .contains("600 s");
        assertThat(server.received).hasSize(1);
        assertThat(failure(call)).isInstanceOf(ModelException.class);
    }

    /** Complaint 40: a gateway that gave up waiting says nothing of the generation behind it. */
    @Test
    void anAnswerThatAGatewayGaveUpOnIsNotAskedForAgain() {
        ScriptedServer server = server((exchange, number) -> ScriptedServer.reply(exchange, 504, "upstream timed out"));

        assertThat(failure(pool(Protocol.COMPLETIONS, server).generate(request(0))))
                .isInstanceOf(ModelException.class)
                .hasMessageContaining("status 504: upstream timed out");
        assertThat(server.received).hasSize(1);
    }

    @Test
    void anAbortedCallIsCancelledAndNotTriedAgain() throws Exception {
        ScriptedServer server = server((exchange, number) -> ScriptedServer.reply(exchange, 503, "no"));
        Call call = pool(Protocol.COMPLETIONS, server).generate(request(0));
        time.await(2);

        call.abort();
        time.pass(Duration.ofMinutes(1));

        assertThat(call.turn()).isCancelled();
        assertThat(server.received).hasSize(1);
    }

    @Test
    void whatFailsAgainAndAgainFailsItsTrajectoryWithAddressStatusAndCount() throws Exception {
        ScriptedServer server = server((exchange, number) -> ScriptedServer.reply(exchange, 500, "out of\nmemory"));
        Call call = pool(Protocol.COMPLETIONS, server).generate(request(0));
        for (int retry = 0; retry < 3; retry++) {
            time.await(2);
            time.pass(Duration.ofSeconds(40));
        }

        assertThat(failure(call))
                .isInstanceOf(ModelException.class)
                .hasMessage("Cannot get an answer from " + server.address() + "/v1/completions in 4 attempts, the last"
                        + " one: status 500: out of memory; look after the server, or add another");
        assertThat(((ModelException) failure(call)).retries()).isEqualTo(3);
    }

    @ParameterizedTest
    @CsvSource({
        "401, set the environment variable THE_KEY to the server's key",
        "403, set the environment variable THE_KEY to the server's key",
        "404, check the server's address and the model's name 'small'",
        "307, check the server's address and the model's name 'small'"
    })
    void whatAllRequestsWouldBeRefusedForEndsTheRollout(int status, String remedy) {
        ScriptedServer server =
                server((exchange, number) -> ScriptedServer.reply(exchange, status, "no, not with " + KEY));

        assertThat(failure(pool(Protocol.COMPLETIONS, server).generate(request(0))))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith(
                        "Cannot ask " + server.address() + "/v1/completions: status " + status + ": no, not with [key]")
                .hasMessageEndingWith(remedy)
                .hasMessageNotContaining(KEY);
        assertThat(server.received).hasSize(1);
    }

    @Test
    void whatOneRequestIsRefusedForFailsItsTrajectoryAlone() {
        ScriptedServer server = server((exchange, number) -> ScriptedServer.reply(exchange, 400, "too long"));

        assertThat(failure(pool(Protocol.COMPLETIONS, server).generate(request(0))))
                .isInstanceOf(ModelException.class)
                .hasMessageContaining("status 400: too long");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "no JSON",
                "{}",
                "{\"choices\": [{\"token_ids\": []}]}",
                "{\"choices\": [{\"token_ids\": [1,2,3,4,5,6,7,8,9]}]}",
                "{\"choices\": [{\"token_ids\": [-1]}]}",
                "{\"choices\": [{\"token_ids\": [1], \"logprobs\": {\"token_logprobs\": [-1, -1]}}]}"
            })
    void anAnswerThatIsNoneFailsItsTrajectory(String answer) {
        ScriptedServer server = server((exchange, number) -> ScriptedServer.reply(exchange, 200, answer));

        assertThat(failure(pool(Protocol.COMPLETIONS, server).generate(request(0))))
                .isInstanceOf(ModelException.class)
                .hasMessageStartingWith("Cannot ");
    }

    @Test
    void aKeyThatIsNotSetIsSaidBeforeAnythingIsAsked() {
        Servers asked = new Servers(
                List.of(URI.create("http://localhost:1")), "m", Protocol.CHAT, "NO_KEY", Duration.ofSeconds(1), 0);

        assertThatThrownBy(() -> new ServerPool(asked, ServerSampling.GREEDY, null, request -> 0, name -> null, time))
                .hasMessage("Cannot ask the servers: the environment variable NO_KEY is not set; export the key in it");
    }

    @ParameterizedTest
    @CsvSource({
        "ftp://host/v1, Invalid server address",
        "host:8000, Invalid server address",
        "http://user:secret@host/v1, it holds a user"
    })
    void anAddressThatIsNoneOrHoldsASecretIsRefused(String address, String message) {
        assertThatThrownBy(() ->
                        new Servers(List.of(URI.create(address)), "m", Protocol.CHAT, null, Duration.ofSeconds(1), 0))
                .hasMessageContaining(message)
                .hasMessageNotContaining("secret");
    }

    @ParameterizedTest
    @CsvSource({
        "3, PT3S",
        "'Thu, 1 Jan 2026 00:00:09 GMT', PT9S",
        "'Wed, 31 Dec 2025 00:00:00 GMT', PT0S",
        "999999999, PT1H",
        "soon,",
        "-1,"
    })
    void retryAfterIsSecondsOrADate(String value, Duration expected) {
        HttpHeaders headers = HttpHeaders.of(Map.of("Retry-After", List.of(value)), (name, one) -> true);

        assertThat(RetryAfter.of(headers, Instant.parse("2026-01-01T00:00:00Z")))
                .isEqualTo(expected);
    }
}
