package io.bellows.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.bellows.client.Dialect.Attempt;
import io.bellows.client.Dialect.InvalidAnswerException;
import io.bellows.env.ModelClient;
import io.bellows.env.ModelException;
import io.bellows.env.ModelRequest;
import io.bellows.env.ModelTurn;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;

/** One turn on its way: an attempt at one server after the other, until one answers. */
final class RemoteCall implements ModelClient.Call {

    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final ServerPool pool;
    private final ModelRequest request;
    private final byte[] body;
    private final long start;
    private final CompletableFuture<ModelTurn> turn = new CompletableFuture<>();
    private int attempts;
    private Future<?> waiting;
    private Future<?> limit;
    private CompletableFuture<HttpResponse<byte[]>> sent;

    RemoteCall(ServerPool pool, ModelRequest request) {
        this.pool = pool;
        this.request = request;
        this.body = pool.body(request);
        this.start = pool.time().nanos();
    }

    @SuppressWarnings("FutureReturnValueIgnored") // frees what the attempt holds
    void begin() {
        limit = pool.time().after(pool.servers().timeout().toNanos(), this::late);
        turn.whenComplete((answer, failure) -> release());
        attempt();
    }

    @Override
    public CompletableFuture<ModelTurn> turn() {
        return turn;
    }

    @Override
    public void abort() {
        turn.cancel(false);
    }

    /** Closes the connection of an attempt that nobody waits for any more. */
    private synchronized void release() {
        limit.cancel(false);
        if (waiting != null) {
            waiting.cancel(false);
        }
        if (sent != null) {
            sent.cancel(true);
        }
    }

    private synchronized int attempts() {
        return attempts;
    }

    @SuppressWarnings("FutureReturnValueIgnored") // what it comes to is handled here
    private void attempt() {
        CompletableFuture<HttpResponse<byte[]>> answer;
        Server server;
        synchronized (this) {
            if (turn.isDone()) {
                return;
            }
            ServerPool.Choice choice = pool.choose(request.trajectory());
            if (choice.server() == null) {
                waitFor(choice.pause());
                return;
            }
            server = choice.server();
            answer = pool.send(server, request, body, attempts++);
            sent = answer;
        }
        answer.whenComplete((response, failure) -> {
            pool.ended(server);
            if (!turn.isDone()) {
                ended(server, response, failure);
            }
        });
    }

    private void waitFor(long nanos) {
        try {
            waiting = pool.time().after(nanos, this::attempt);
        } catch (RejectedExecutionException e) {
            turn.cancel(false); // the pool is closed
        }
    }

    private void ended(Server server, HttpResponse<byte[]> response, Throwable failure) {
        if (failure != null) {
            Throwable cause =
                    failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
            if (cause instanceof IOException) {
                retry(server, null, String.valueOf(cause), cause);
            } else {
                turn.completeExceptionally(cause);
            }
            return;
        }
        int status = response.statusCode();
        if (status / 100 == 2) {
            pool.succeeded(server);
            read(server, response.body());
        } else if (status == 429 || (status >= 500 && status != 504)) {
            Duration asked = RetryAfter.of(response.headers(), Instant.now());
            retry(server, asked, "status " + status + ": " + pool.shown(response.body()), null);
        } else {
            refuse(server, status, pool.shown(response.body()));
        }
    }

    private void retry(Server server, Duration asked, String why, Throwable cause) {
        pool.failed(server, asked);
        if (attempts() <= pool.servers().maxRetries()) {
            attempt();
            return;
        }
        fail(
                "Cannot get an answer from " + pool.uri(server) + " in " + attempts() + " attempts, the last one: "
                        + why + "; look after the server, or add another",
                cause);
    }

    private void read(Server server, byte[] answer) {
        ModelTurn read;
        try {
            JsonNode choice = JSON.readTree(answer).at("/choices/0");
            long millis = (pool.time().nanos() - start) / 1_000_000;
            read = pool.dialect().turn(choice, new Attempt(request, attempts() - 1, millis));
        } catch (IOException e) {
            fail(
                    "Cannot read the answer of " + pool.uri(server) + ": not JSON: " + pool.shown(answer)
                            + "; check the address",
                    e);
            return;
        } catch (InvalidAnswerException e) {
            fail("Cannot use the answer of " + pool.uri(server) + ": " + e.getMessage(), e);
            return;
        }
        turn.complete(read);
    }

    /** What one request is refused for is an error of its trajectory; what all would be refused for ends the rollout. */
    private void refuse(Server server, int status, String text) {
        URI uri = pool.uri(server);
        String what = "Cannot ask " + uri + ": status " + status + ": " + text;
        String variable = pool.servers().keyVariable();
        switch (status) {
            case 401, 403 ->
                turn.completeExceptionally(new IllegalStateException(what + "; "
                        + (variable == null
                                ? "name the environment variable that holds the server's key"
                                : "set the environment variable " + variable + " to the server's key")));
            case 404, 405, 301, 302, 303, 307, 308 ->
                turn.completeExceptionally(
                        new IllegalStateException(what + "; check the server's address and the model's name '"
                                + pool.servers().model() + "'"));
            case 504 -> fail(what + "; it may still be at work, so it was not asked again: ask for fewer tokens", null);
            default -> fail(what + "; the server's word on the request says what to change", null);
        }
    }

    /** What took too long may still be generated, so it is not asked for again. */
    private void late() {
        fail(
                "Cannot wait longer for " + pool.servers().addresses() + ": no answer in "
                        + pool.servers().timeout().toSeconds() + " s and " + attempts()
                        + " attempts; raise the time limit, or"
                        + " ask for fewer tokens",
                null);
    }

    private void fail(String message, Throwable cause) {
        turn.completeExceptionally(new ModelException(message, cause, Math.max(0, attempts() - 1)));
    }
}
