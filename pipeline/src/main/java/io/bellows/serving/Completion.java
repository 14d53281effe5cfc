package io.bellows.serving;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.engine.Generation;
import io.bellows.engine.GenerationRequest;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** One request on its way through the engine and back, whole or as server-sent events. */
final class Completion {

    private final ServedModel model;
    private final GenerationRequest request;
    private final Reply reply;
    private final String id;
    private final long created = Instant.now().getEpochSecond();
    private final long deadline;
    private final Duration limit;

    Completion(ServedModel model, GenerationRequest request, Reply reply, Duration limit) {
        this.model = model;
        this.request = request;
        this.reply = reply;
        this.id = reply.idPrefix() + UUID.randomUUID().toString().replace("-", "");
        this.limit = limit;
        this.deadline = System.nanoTime() + limit.toNanos();
    }

    /** Waits for all answers. */
    ObjectNode whole() throws InterruptedException {
        List<CompletableFuture<Generation>> generations = model.engine().submit(request);
        try {
            ObjectNode result = envelope(reply.object());
            ArrayNode choices = result.putArray("choices");
            List<Answer> answers = new ArrayList<>();
            for (CompletableFuture<Generation> generation : generations) {
                Answer answer = answer(answers.size(), generation.get(nanosLeft(), TimeUnit.NANOSECONDS));
                answers.add(answer);
                choices.add(reply.choice(answer));
            }
            result.set("usage", usage(answers));
            return result;
        } catch (ExecutionException e) {
            throw ApiException.failed(e.getCause().getMessage());
        } catch (TimeoutException e) {
            throw late();
        } finally {
            generations.forEach(generation -> generation.cancel(false)); // nothing, once they have ended
        }
    }

    /** What the engine tells the thread that writes the events: a token, or the end of a sample. */
    private record Event(int sample, int id, Generation end, Throwable failure) {}

    /**
     * Writes the answers while they are generated.
     *
     * @param showUsage whether a last event counts the tokens
     * @throws IOException when the client is gone; its generations are dropped
     */
    void stream(OutputStream out, boolean showUsage) throws IOException, InterruptedException {
        BlockingQueue<Event> events = new LinkedBlockingQueue<>();
        List<CompletableFuture<Generation>> generations = model.engine()
                .submit(request, (sample, token, logProb) -> events.add(new Event(sample, token, null, null)));
        try {
            List<VisibleText> texts = new ArrayList<>();
            for (int i = 0; i < generations.size(); i++) {
                int sample = i;
                texts.add(new VisibleText(
                        model.text().tokenizer(), request.sampling().stop()));
                CompletableFuture<Generation> unused = generations
                        .get(i)
                        .whenComplete((end, failure) -> events.add(new Event(sample, 0, end, failure)));
                send(out, reply.opening(i));
            }
            List<Answer> answers = new ArrayList<>();
            while (answers.size() < generations.size()) {
                Event event = events.poll(nanosLeft(), TimeUnit.NANOSECONDS);
                if (event == null) {
                    throw late();
                }
                write(out, event, texts.get(event.sample()), answers);
            }
            if (showUsage) {
                ObjectNode last = envelope(reply.chunkObject());
                last.putArray("choices");
                last.set("usage", usage(answers));
                send(out, last.toString());
            }
            send(out, "[DONE]");
        } catch (ApiException e) {
            send(out, ApiErrors.json(e).toString()); // the status is on its way already
        } finally {
            generations.forEach(generation -> generation.cancel(false));
        }
    }

    private void write(OutputStream out, Event event, VisibleText text, List<Answer> answers) throws IOException {
        if (event.failure() != null) {
            throw ApiException.failed(event.failure().getMessage());
        }
        String piece = event.end() == null ? text.push(event.id()) : text.end();
        if (reply.showsEarly() && !piece.isEmpty()) {
            send(out, reply.piece(event.sample(), piece));
        }
        if (event.end() != null) {
            Answer answer = answer(event.sample(), event.end());
            answers.add(answer);
            send(out, reply.closing(answer));
        }
    }

    private Answer answer(int index, Generation generation) {
        return Answer.of(index, generation, model, request.sampling().stop());
    }

    private long nanosLeft() {
        return Math.max(0, deadline - System.nanoTime());
    }

    private ApiException late() {
        return ApiException.late("Cannot answer within " + limit.toSeconds()
                + " s; ask for fewer tokens, or start the server with a longer --timeout");
    }

    private ObjectNode envelope(String object) {
        ObjectNode result = JsonNodeFactory.instance.objectNode();
        return result.put("id", id)
                .put("object", object)
                .put("created", created)
                .put("model", model.name());
    }

    private ObjectNode usage(List<Answer> answers) {
        int prompt = request.promptIds().length;
        int tokens = answers.stream()
                .mapToInt(answer -> answer.generation().ids().length)
                .sum();
        return JsonNodeFactory.instance
                .objectNode()
                .put("prompt_tokens", prompt)
                .put("completion_tokens", tokens)
                .put("total_tokens", prompt + tokens);
    }

    private void send(OutputStream out, ObjectNode choice) throws IOException {
        if (choice != null) {
            ObjectNode chunk = envelope(reply.chunkObject());
            chunk.putArray("choices").add(choice);
            send(out, chunk.toString());
        }
    }

    private static void send(OutputStream out, String data) throws IOException {
        out.write(("data: " + data + "\n\n").getBytes(StandardCharsets.UTF_8));
        out.flush();
    }
}
