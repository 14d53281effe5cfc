package io.bellows.serving;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.JsonValue;
import com.openai.core.http.StreamResponse;
import com.openai.errors.BadRequestException;
import com.openai.helpers.ChatCompletionAccumulator;
import com.openai.models.FunctionDefinition;
import com.openai.models.FunctionParameters;
import com.openai.models.chat.completions.ChatCompletion;
import com.openai.models.chat.completions.ChatCompletionChunk;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionMessageFunctionToolCall;
import com.openai.models.chat.completions.ChatCompletionNamedToolChoice;
import com.openai.models.chat.completions.ChatCompletionToolMessageParam;
import io.bellows.tool.CalculatorTool;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A real model, the calculator starter, calls a tool through our server, and OpenAI's own client for Java runs it. */
class ToolCallingClientTest {

    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final String PRODUCT = " 13x 54=";

    private static RunningServer server;
    private static OpenAIClient client;

    @BeforeAll
    static void start() throws IOException {
        server = new RunningServer(Path.of("../data-samples/calculator-starter"), 300);
        client = OpenAIOkHttpClient.builder()
                .baseUrl(server.address().toString())
                .apiKey("none")
                .maxRetries(0)
                .build();
    }

    @AfterAll
    static void stop() {
        client.close();
        server.close();
    }

    private static ChatCompletionCreateParams.Builder question(long seed) throws IOException {
        ObjectNode function =
                (ObjectNode) JSON.readTree(new CalculatorTool().toolSchema()).path("function");
        FunctionParameters.Builder parameters = FunctionParameters.builder();
        function.path("parameters")
                .properties()
                .forEach(field -> parameters.putAdditionalProperty(
                        field.getKey(), JsonValue.from(JSON.convertValue(field.getValue(), Object.class))));
        return ChatCompletionCreateParams.builder()
                .model("calculator-starter")
                .addUserMessage(PRODUCT)
                .addFunctionTool(FunctionDefinition.builder()
                        .name(function.path("name").asText())
                        .description(function.path("description").asText())
                        .parameters(parameters.build())
                        .build())
                .putAdditionalBodyProperty("seed", JsonValue.from(seed))
                .temperature(1);
    }

    /** The first seed at which the model calls the calculator so that it can compute; it knows a way without and a wrong one, too. */
    private static long callingSeed() throws IOException {
        for (long seed = 1; seed <= 64; seed++) {
            List<ChatCompletionMessageFunctionToolCall> calls =
                    calls(client.chat().completions().create(question(seed).build()));
            if (calls.size() == 1 && compute(calls.get(0)).equals("702")) {
                return seed;
            }
        }
        throw new AssertionError("the model has not called the calculator in 64 samples");
    }

    private static List<ChatCompletionMessageFunctionToolCall> calls(ChatCompletion completion) {
        return completion.choices().get(0).message().toolCalls().orElse(List.of()).stream()
                .map(call -> call.asFunction())
                .toList();
    }

    private static String compute(ChatCompletionMessageFunctionToolCall call) throws IOException {
        try {
            ObjectNode arguments = (ObjectNode) JSON.readTree(call.function().arguments());
            return new CalculatorTool()
                    .execute(arguments, JSON.createObjectNode())
                    .text();
        } catch (RuntimeException e) {
            return "Error: " + e.getMessage();
        }
    }

    @Test
    void aClientListsTheModelAndTheModelCallsAToolAndAnswersWithWhatItSaid() throws IOException {
        assertThat(client.models().list().data())
                .singleElement()
                .satisfies(model -> assertThat(model.id()).isEqualTo("calculator-starter"));
        long seed = callingSeed();

        ChatCompletion calling =
                client.chat().completions().create(question(seed).build());

        assertThat(calling.choices().get(0).finishReason()).isEqualTo(ChatCompletion.Choice.FinishReason.TOOL_CALLS);
        ChatCompletionMessageFunctionToolCall call = calls(calling).get(0);
        assertThat(call.function().name()).isEqualTo("calculator");

        ChatCompletion answering = client.chat()
                .completions()
                .create(question(1)
                        .addMessage(calling.choices().get(0).message())
                        .addMessage(ChatCompletionToolMessageParam.builder()
                                .toolCallId(call.id())
                                .content(compute(call))
                                .build())
                        .temperature(0)
                        .build());

        assertThat(answering.choices().get(0).message().content())
                .get()
                .asString()
                .contains("702");
        assertThat(answering.choices().get(0).finishReason()).isEqualTo(ChatCompletion.Choice.FinishReason.STOP);
    }

    @Test
    void aStreamedCallIsTheWholeOne() throws IOException {
        long seed = callingSeed();
        ChatCompletion whole = client.chat().completions().create(question(seed).build());

        ChatCompletionAccumulator accumulator = ChatCompletionAccumulator.create();
        try (StreamResponse<ChatCompletionChunk> stream =
                client.chat().completions().createStreaming(question(seed).build())) {
            stream.stream().forEach(accumulator::accumulate);
        }

        ChatCompletion streamed = accumulator.chatCompletion();
        assertThat(streamed.choices().get(0).finishReason()).isEqualTo(ChatCompletion.Choice.FinishReason.TOOL_CALLS);
        assertThat(calls(streamed)).singleElement().satisfies(call -> {
            assertThat(call.function().name()).isEqualTo("calculator");
            assertThat(call.function().arguments())
                    .isEqualTo(calls(whole).get(0).function().arguments());
        });
    }

    @Test
    void aToolThatMustBeCalledIsRefusedAndNotOnlyOffered() {
        assertThatThrownBy(() -> client.chat()
                        .completions()
                        .create(question(1)
                                .toolChoice(ChatCompletionNamedToolChoice.builder()
                                        .function(ChatCompletionNamedToolChoice.Function.builder()
                                                .name("calculator")
                                                .build())
                                        .build())
                                .build()))
                .isInstanceOf(BadRequestException.class)
                .hasMessageContaining("Unsupported tool_choice")
                .hasMessageContaining("calculator");
    }
}
