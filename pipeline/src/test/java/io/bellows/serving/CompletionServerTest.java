package io.bellows.serving;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import ai.djl.Device;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.http.StreamResponse;
import com.openai.errors.BadRequestException;
import com.openai.errors.NotFoundException;
import com.openai.errors.UnauthorizedException;
import com.openai.models.chat.completions.ChatCompletion;
import com.openai.models.chat.completions.ChatCompletionChunk;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import io.bellows.engine.Admission;
import io.bellows.engine.EngineSettings;
import io.bellows.engine.Generation;
import io.bellows.engine.GenerationRequest;
import io.bellows.engine.InferenceEngine;
import io.bellows.engine.SamplingParams;
import io.bellows.model.Kernels;
import io.bellows.model.Weights;
import io.bellows.text.ChatTokenizer;
import io.bellows.text.GenerationPrompt;
import io.bellows.text.Message;
import io.bellows.text.SpecialTokens;
import io.bellows.text.StreamingDecoder;
import io.bellows.text.Tokenizer;
import io.bellows.text.toolcall.ToolCallFormat;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The server as OpenAI's own client for Java and a plain HTTP client see it. */
class CompletionServerTest {

    private static final Path STARTER = Path.of("../data-samples/starter");
    private static final String KEY = "a-key-of-this-test";
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private static final String SUM = "What is 123 + 456?";

    private static Kernels kernels;
    private static Weights weights;
    private static ChatTokenizer text;
    private static InferenceEngine engine;
    private static CompletionServer server;
    private static OpenAIClient client;

    @BeforeAll
    static void start() throws Exception {
        kernels = Kernels.load(Device.cpu());
        weights = Weights.load(kernels, STARTER);
        text = ChatTokenizer.load(STARTER, Map.of());
        Tokenizer tokenizer = text.tokenizer();
        engine = new InferenceEngine(
                kernels,
                weights,
                new EngineSettings(8, 128, 256, Admission.CONTINUOUS),
                () -> new StreamingDecoder(tokenizer, SpecialTokens.KEEP)::push);
        server = new CompletionServer(
                new ServedModel("starter", text, engine, 128, ToolCallFormat.HERMES),
                new ServerSettings("127.0.0.1", 0, KEY, Duration.ofMinutes(1)));
        client = client(KEY);
    }

    private static OpenAIClient client(String key) {
        return OpenAIOkHttpClient.builder()
                .baseUrl("http://127.0.0.1:" + server.port() + "/v1")
                .apiKey(key)
                .maxRetries(0)
                .build();
    }

    @AfterAll
    static void stop() {
        client.close();
        server.close();
        engine.close();
        text.close();
        weights.close();
        kernels.close();
    }

    @Test
    void aClientListsTheModel() {
        assertThat(client.models().list().data())
                .singleElement()
                .satisfies(model -> assertThat(model.id()).isEqualTo("starter"));
    }

    @Test
    void aChatIsWhatTheEngineAnswersWithoutTheTokenThatEndsIt() {
        Generation expected = engineAnswer();

        ChatCompletion completion = client.chat().completions().create(chat().build());

        ChatCompletion.Choice choice = completion.choices().get(0);
        assertThat(choice.message().content())
                .hasValue(text.tokenizer().decode(expected.ids(), SpecialTokens.SKIP))
                .get()
                .asString()
                .doesNotContain("<|im_end|>");
        assertThat(choice.finishReason()).isEqualTo(ChatCompletion.Choice.FinishReason.STOP);
        assertThat(completion.usage().orElseThrow().completionTokens()).isEqualTo(expected.ids().length);
    }

    @Test
    void piecesOfAStreamAreTheWholeAnswer() {
        String whole = client.chat()
                .completions()
                .create(chat().build())
                .choices()
                .get(0)
                .message()
                .content()
                .orElseThrow();

        try (StreamResponse<ChatCompletionChunk> stream =
                client.chat().completions().createStreaming(chat().build())) {
            List<ChatCompletionChunk> chunks = stream.stream().toList();
            assertThat(chunks.stream()
                            .flatMap(chunk -> chunk.choices().stream())
                            .map(choice -> choice.delta().content().orElse(""))
                            .collect(Collectors.joining()))
                    .isEqualTo(whole);
            assertThat(chunks).hasSizeGreaterThan(4);
            assertThat(chunks.get(chunks.size() - 1).choices().get(0).finishReason())
                    .hasValue(ChatCompletionChunk.Choice.FinishReason.STOP);
        }
    }

    @Test
    void completionsCarryIdsAndLogProbsOfTheEngine() throws Exception {
        Generation expected = engineAnswer();
        String request = JSON.createObjectNode()
                .put("model", "starter")
                .put("temperature", 0)
                .put("max_tokens", 64)
                .put("logprobs", 1)
                .put("return_token_ids", true)
                .set("prompt", JSON.valueToTree(prompt()))
                .toString();

        JsonNode choice = post("/v1/completions", request, 200).path("choices").get(0);

        assertThat(JSON.treeToValue(choice.path("token_ids"), int[].class)).isEqualTo(expected.ids());
        assertThat(JSON.treeToValue(choice.path("prompt_token_ids"), int[].class))
                .isEqualTo(prompt());
        assertThat(JSON.treeToValue(choice.path("logprobs").path("token_logprobs"), float[].class))
                .containsExactly(expected.logProbs(), within(1e-5f));
    }

    @Test
    void severalAnswersAreTheSameForTheSameSeed() throws Exception {
        String request = "{\"messages\":[{\"role\":\"user\",\"content\":\"" + SUM + "\"}],\"n\":3,\"seed\":7}";

        List<String> first = contents(post("/v1/chat/completions", request, 200));
        List<String> second = contents(post("/v1/chat/completions", request, 200));

        assertThat(first).hasSize(3).isEqualTo(second);
    }

    @Test
    void aStopStringEndsTheAnswerAndIsNotPartOfIt() throws Exception {
        String whole = text.tokenizer().decode(engineAnswer().ids(), SpecialTokens.SKIP);
        String stop = whole.substring(1, 3);
        String request = JSON.createObjectNode()
                .put("temperature", 0)
                .put("stop", stop)
                .set("messages", JSON.readTree("[{\"role\":\"user\",\"content\":\"" + SUM + "\"}]"))
                .toString();

        JsonNode choice =
                post("/v1/chat/completions", request, 200).path("choices").get(0);

        assertThat(choice.path("message").path("content").asText()).isEqualTo(whole.substring(0, whole.indexOf(stop)));
        assertThat(choice.path("finish_reason").asText()).isEqualTo("stop");
    }

    @Test
    void anUnknownModelIsNotFound() {
        assertThatThrownBy(() ->
                        client.chat().completions().create(chat().model("gpt").build()))
                .isInstanceOf(NotFoundException.class)
                .hasMessageContaining("this server has \"starter\"");
    }

    @Test
    void whatIsNotImplementedIsRefusedAndNotIgnored() {
        assertThatThrownBy(() -> client.chat()
                        .completions()
                        .create(chat().frequencyPenalty(0.5).build()))
                .isInstanceOf(BadRequestException.class)
                .hasMessageContaining("Unsupported frequency_penalty 0.5");
    }

    @Test
    void anotherKeyIsRefused() {
        OpenAIClient stranger = client("another");
        try {
            assertThatThrownBy(() -> stranger.models().list()).isInstanceOf(UnauthorizedException.class);
        } finally {
            stranger.close();
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"messages\":                                        | not JSON",
                "[1]                                                   | expected a JSON object",
                "{}                                                    | Invalid messages",
                "{\"messages\":[{\"content\":\"a\"}]}                  | it has no role",
                "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"n\":\"2\"}           | Invalid n \"2\": expected an integer",
                "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"n\":0}               | Invalid n 0",
                "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"temperature\":-1}    | Invalid temperature -1.0",
                "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"max_tokens\":100000} | Cannot fit a prompt of",
                "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"top_logprobs\":3}    | Unsupported top_logprobs 3"
            })
    void aRequestThatIsWrongIsAnsweredWithWhatIsWrong(String request, String message) throws Exception {
        JsonNode error = post("/v1/chat/completions", request, 400).path("error");

        assertThat(error.path("type").asText()).isEqualTo("invalid_request_error");
        assertThat(error.path("message").asText()).contains(message);
    }

    @Test
    void anIdOutsideOfTheVocabularyIsTheClientsMistake() throws Exception {
        assertThat(post("/v1/completions", "{\"prompt\":[1,999999]}", 400)
                        .path("error")
                        .path("message")
                        .asText())
                .contains("Invalid token 999999 at position 1");
    }

    @Test
    void healthNeedsNoKey() throws Exception {
        HttpResponse<String> response =
                HTTP.send(HttpRequest.newBuilder(uri("/health")).build(), HttpResponse.BodyHandlers.ofString());

        assertThat(response.statusCode()).isEqualTo(200);
    }

    @Test
    void aChatWithToolsGoesOnAfterTheirAnswers() throws Exception {
        String request = """
                {"temperature": 0, "max_tokens": 8, "tool_choice": "auto", "parallel_tool_calls": true, "tools": [
                 {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}],
                 "messages": [{"role": "user", "content": "1 + 1?"},
                  {"role": "assistant", "content": "", "tool_calls": [
                   {"id": "abcdefghi", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
                  {"role": "tool", "tool_call_id": "abcdefghi", "content": "2"}]}""";

        JsonNode message = post("/v1/chat/completions", request, 200).at("/choices/0/message");

        assertThat(message.path("content").asText()).isNotEmpty();
        assertThat(message.has("tool_calls")).isFalse();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    "tools": [{"type": "function", "function": {"name": "f"}}], "tool_choice": "required" | Unsupported tool_choice "required"
                    "tools": [{"type": "function", "function": {"name": "f"}}], "parallel_tool_calls": false | Unsupported parallel_tool_calls
                    "tools": [{"type": "web"}] | Invalid tools {"type":"web"}
                    "tools": {} | Invalid tools {}
                    """)
    void whatToolsCannotDoIsRefused(String fields, String message) throws Exception {
        String request = "{\"messages\": [{\"role\": \"user\", \"content\": \"x\"}], " + fields + "}";

        assertThat(post("/v1/chat/completions", request, 400)
                        .at("/error/message")
                        .asText())
                .startsWith(message);
    }

    private static Generation engineAnswer() {
        SamplingParams greedy = SamplingParams.greedy(64, text.tokenizer().stopIds());
        return engine.submit(new GenerationRequest(prompt(), greedy, new long[] {1}))
                .get(0)
                .join();
    }

    private static int[] prompt() {
        return text.encode(List.of(Message.of("user", SUM)), null, GenerationPrompt.ADD)
                .ids();
    }

    private static ChatCompletionCreateParams.Builder chat() {
        return ChatCompletionCreateParams.builder()
                .model("starter")
                .temperature(0)
                .addUserMessage(SUM);
    }

    private static List<String> contents(JsonNode completion) {
        return StreamSupport.stream(completion.path("choices").spliterator(), false)
                .map(choice -> choice.path("message").path("content").asText())
                .toList();
    }

    private static JsonNode post(String path, String body, int status) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(uri(path))
                .header("Authorization", "Bearer " + KEY)
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
        HttpResponse<String> response = HTTP.send(request, HttpResponse.BodyHandlers.ofString());
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        return JSON.readTree(response.body());
    }

    private static URI uri(String path) {
        return URI.create("http://127.0.0.1:" + server.port() + path);
    }
}
