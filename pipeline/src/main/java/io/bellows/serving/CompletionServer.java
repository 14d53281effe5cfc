package io.bellows.serving;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.engine.GenerationRequest;
import io.bellows.text.GenerationPrompt;
import io.bellows.text.Message;
import io.bellows.text.Tokenizer;
import io.bellows.text.jinja.TemplateException;
import io.javalin.Javalin;
import io.javalin.compression.CompressionStrategy;
import io.javalin.config.JavalinConfig;
import io.javalin.http.Context;
import io.javalin.http.HttpResponseException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves a model under the OpenAI protocol: {@code /v1/chat/completions}, {@code /v1/completions} (with ids and
 * log-probs), {@code /v1/models} and {@code /health}. Requests are decoded together by the engine's continuous batching.
 *
 * <p>A field that would change the answer and is not implemented is refused, never ignored. Prompts are input from
 * strangers: special tokens that a message spells stay text.
 */
public final class CompletionServer implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(CompletionServer.class);
    private static final int LARGEST_REQUEST = 16 << 20; // bytes

    private final ServedModel model;
    private final ServerSettings settings;
    private final Javalin server;

    /**
     * Starts a server.
     *
     * @param model is closed by the caller, after the server
     * @param settings where it listens
     * @throws IllegalStateException if the address cannot be bound
     */
    public CompletionServer(ServedModel model, ServerSettings settings) {
        this.model = model;
        this.settings = settings;
        this.server = Javalin.create(this::configure);
        try {
            server.start(settings.host(), settings.port());
        } catch (RuntimeException e) {
            throw new IllegalStateException(
                    "Cannot listen on " + settings.host() + ":" + settings.port() + ": " + e.getMessage()
                            + "; choose another --port or --host",
                    e);
        }
    }

    /** The port it listens on. */
    public int port() {
        return server.port();
    }

    /** Stops listening and waits for the requests that are being written. */
    @Override
    public void close() {
        server.stop();
    }

    private void configure(JavalinConfig config) {
        config.startup.showJavalinBanner = false;
        config.startup.showOldJavalinVersionWarning = false;
        config.http.maxRequestSize = LARGEST_REQUEST;
        config.http.compressionStrategy = CompressionStrategy.NONE; // it would hold back events
        config.routes.before(this::authenticate);
        config.routes.get("/health", context -> json(context, 200, object().put("status", "ok")));
        config.routes.get("/v1/models", this::models);
        config.routes.post("/v1/chat/completions", this::chat);
        config.routes.post("/v1/completions", this::complete);
        config.routes.exception(ApiException.class, (e, context) -> error(context, e));
        config.routes.exception(HttpResponseException.class, CompletionServer::httpError);
        config.routes.exception(Exception.class, (e, context) -> {
            LOG.error("{} failed", context.path(), e);
            error(context, ApiException.failed("Cannot answer: " + e));
        });
    }

    private void authenticate(Context context) {
        String key = settings.apiKey();
        if (key == null || context.path().equals("/health")) {
            return;
        }
        String given = context.header("Authorization");
        byte[] expected = ("Bearer " + key).getBytes(StandardCharsets.UTF_8);
        byte[] actual = String.valueOf(given).getBytes(StandardCharsets.UTF_8);
        if (!MessageDigest.isEqual(expected, actual)) { // takes the same time wherever they differ
            throw ApiException.unauthorized();
        }
    }

    private void models(Context context) {
        ObjectNode result = object().put("object", "list");
        result.putArray("data")
                .addObject()
                .put("id", model.name())
                .put("object", "model")
                .put("created", 0)
                .put("owned_by", "bellows")
                .put("max_model_len", model.positions());
        json(context, 200, result);
    }

    private void chat(Context context) throws IOException, InterruptedException {
        RequestBody body = body(context);
        body.refuse("response_format", format -> format.path("type").asText().equals("text"));
        OfferedTools tools = OfferedTools.read(body, model.toolCalls());
        int[] prompt = chatPrompt(body, tools);
        int maxTokens = body.integer("max_completion_tokens", body.integer("max_tokens", -1));
        Reply reply = new ChatReply(model.text().tokenizer(), body.flag("logprobs"), tools);
        answer(context, body, Sampling.read(body, maxTokens).request(prompt, model), reply);
    }

    private int[] chatPrompt(RequestBody body, OfferedTools tools) {
        JsonNode messages = body.node("messages");
        if (!messages.isArray() || messages.isEmpty()) {
            throw ApiException.badRequest("messages", "Invalid messages: expected a list of {role, content}");
        }
        Map<String, JsonNode> variables = new HashMap<>();
        body.node("chat_template_kwargs")
                .properties()
                .forEach(field -> variables.put(field.getKey(), field.getValue()));
        try {
            var checked = JsonNodeFactory.instance.arrayNode();
            StreamSupport.stream(messages.spliterator(), false)
                    .map(message ->
                            OfferedTools.forTemplate(Message.fromJson(message).toJson()))
                    .forEach(checked::add);
            return model.text()
                    .encode(checked, tools == null ? null : tools.json(), GenerationPrompt.ADD, variables)
                    .ids();
        } catch (IllegalArgumentException | TemplateException e) {
            throw ApiException.badRequest("messages", e.getMessage());
        }
    }

    private void complete(Context context) throws IOException, InterruptedException {
        RequestBody body = body(context);
        body.refuse("echo", echo -> !echo.asBoolean());
        body.refuse("suffix", suffix -> suffix.asText().isEmpty());
        body.refuse("best_of", best -> best.intValue() == 1);
        body.refuse("logprobs", count -> count.canConvertToInt() && count.intValue() <= 1);
        int[] prompt = textPrompt(body.node("prompt"));
        Reply reply =
                new TextReply(model.text().tokenizer(), prompt, body.has("logprobs"), body.flag("return_token_ids"));
        int maxTokens = body.integer("max_tokens", 16); // the protocol's default
        answer(context, body, Sampling.read(body, maxTokens).request(prompt, model), reply);
    }

    /** A text, encoded with the tokenizer's BOS, or token ids, taken as they are. */
    private int[] textPrompt(JsonNode prompt) {
        Tokenizer tokenizer = model.text().tokenizer();
        if (prompt.isTextual()) {
            return tokenizer.encodePrompt(prompt.textValue());
        }
        boolean ids = prompt.isArray()
                && StreamSupport.stream(prompt.spliterator(), false).allMatch(JsonNode::isInt);
        if (!ids) {
            throw ApiException.badRequest("prompt", "Invalid prompt: expected one text or one list of token ids");
        }
        return StreamSupport.stream(prompt.spliterator(), false)
                .mapToInt(JsonNode::intValue)
                .toArray();
    }

    private RequestBody body(Context context) {
        RequestBody body = RequestBody.read(context.bodyAsBytes());
        String name = body.text("model", model.name());
        if (!name.equals(model.name())) {
            throw ApiException.notFound("Unsupported model \"" + name + "\": this server has \"" + model.name() + "\"");
        }
        return body;
    }

    private void answer(Context context, RequestBody body, GenerationRequest request, Reply reply)
            throws IOException, InterruptedException {
        Completion completion = new Completion(model, request, reply, settings.limit());
        try {
            if (body.flag("stream")) {
                context.contentType("text/event-stream; charset=utf-8").header("Cache-Control", "no-cache");
                OutputStream out = context.res().getOutputStream();
                completion.stream(
                        out, body.node("stream_options").path("include_usage").asBoolean());
            } else {
                json(context, 200, completion.whole());
            }
        } catch (IllegalArgumentException e) { // the engine's checks, such as an id outside of the vocabulary
            throw ApiException.badRequest("prompt", e.getMessage());
        }
    }

    private static void httpError(HttpResponseException e, Context context) {
        ObjectNode result = object();
        result.putObject("error")
                .put("message", e.getStatus() == 404 ? "Cannot find " + context.path() : e.getMessage())
                .put("type", "invalid_request_error")
                .putNull("param")
                .putNull("code");
        json(context, e.getStatus(), result);
    }

    private static void error(Context context, ApiException e) {
        json(context, e.status(), ApiErrors.json(e));
    }

    private static void json(Context context, int status, ObjectNode node) {
        context.status(status).contentType("application/json").result(node.toString());
    }

    private static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }
}
