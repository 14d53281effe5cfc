package io.bellows.client;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.env.ModelClient;
import io.bellows.env.ModelRequest;
import io.bellows.env.ModelRequest.TrajectoryId;
import io.bellows.text.Tokenizer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import java.util.function.UnaryOperator;

/**
 * Servers that speak the OpenAI protocol, as one model. A request goes to the server that has the fewest of this pool in flight; those of
 * one trajectory stay with one server, which has its prefix in memory. A server that cannot be reached, or says that it is busy, is left
 * alone for a while, as long as its {@code Retry-After} asks or longer with each failure, and then tried again; meanwhile the others
 * answer.
 *
 * <p>A request is sent again only where nobody can still be working on the first one for us: the connection failed or broke, or the server
 * answered 429 or an error of its own (5xx, but 504, which says that the answer took too long). What has run out of time is not. Each
 * attempt has an id of its own ({@code X-Request-Id}), and only the answer to the last one counts.
 */
public final class ServerPool implements ModelClient, AutoCloseable {

    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);

    /** So much of a pause is added by chance, so that not all who wait for a server come back at once. */
    private static final double JITTER = 0.25;

    private final Servers servers;
    private final ServerSampling sampling;
    private final Dialect dialect;
    private final ToLongFunction<ModelRequest> seeds;
    private final String key;
    private final Time time;
    private final String poolId = UUID.randomUUID().toString();
    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(CONNECT_TIMEOUT)
            .build();

    private final List<Server> pool = new ArrayList<>();
    private final Map<TrajectoryId, Server> homes = new HashMap<>();

    /** What the pool waits by. */
    interface Time {
        /** The clock, in nanoseconds from anywhere. */
        long nanos();

        /** Runs an action later, unless the result is cancelled. */
        Future<?> after(long nanos, Runnable action);

        /** Nothing waits any more. */
        void close();
    }

    /**
     * A pool that has not been asked yet.
     *
     * @param servers which servers, and how they are asked
     * @param sampling how they sample
     * @param tokenizer the model's; may be null for {@link Protocol#CHAT}, and turns have no ids then
     * @param seeds the seed of a request, which a server may heed
     * @throws IllegalStateException if the variable of the key is not set
     */
    public ServerPool(
            Servers servers, ServerSampling sampling, Tokenizer tokenizer, ToLongFunction<ModelRequest> seeds) {
        this(servers, sampling, tokenizer, seeds, System::getenv, systemTime());
    }

    ServerPool(
            Servers servers,
            ServerSampling sampling,
            Tokenizer tokenizer,
            ToLongFunction<ModelRequest> seeds,
            UnaryOperator<String> environment,
            Time time) {
        this.servers = servers;
        this.sampling = sampling;
        this.dialect =
                servers.protocol() == Protocol.COMPLETIONS ? new TokenDialect(tokenizer) : new ChatDialect(tokenizer);
        this.seeds = seeds;
        this.key = key(servers.keyVariable(), environment);
        this.time = time;
        servers.addresses().forEach(address -> pool.add(new Server(address, time.nanos())));
    }

    /** The key that a variable holds; null without a variable. */
    static String key(String variable, UnaryOperator<String> environment) {
        if (variable == null) {
            return null;
        }
        String key = environment.apply(variable);
        if (key == null || key.isBlank()) {
            throw new IllegalStateException("Cannot ask the servers: the environment variable " + variable
                    + " is not set; export the key in it");
        }
        return key.strip();
    }

    private static Time systemTime() {
        ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, work -> {
            Thread thread = new Thread(work, "bellows-servers");
            thread.setDaemon(true);
            return thread;
        });
        timer.setRemoveOnCancelPolicy(true);
        timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        return new Time() {
            @Override
            public long nanos() {
                return System.nanoTime();
            }

            @Override
            public Future<?> after(long nanos, Runnable action) {
                return timer.schedule(action, nanos, TimeUnit.NANOSECONDS);
            }

            @Override
            public void close() {
                timer.shutdown();
            }
        };
    }

    @Override
    public Call generate(ModelRequest request) {
        RemoteCall call = new RemoteCall(this, request);
        call.begin();
        return call;
    }

    @Override
    public void leave(TrajectoryId trajectory) {
        synchronized (pool) {
            homes.remove(trajectory);
        }
    }

    /** Ends waiting; calls that are open fail or are aborted by who asked. */
    @Override
    public void close() {
        time.close();
    }

    Servers servers() {
        return servers;
    }

    Dialect dialect() {
        return dialect;
    }

    Time time() {
        return time;
    }

    // ---- which server

    /**
     * Where a request goes.
     *
     * @param server null if none may be asked now
     * @param pause nanoseconds until one may be
     */
    record Choice(Server server, long pause) {}

    /** Takes a place at the trajectory's server, or at the least busy one. */
    Choice choose(TrajectoryId trajectory) {
        ThreadLocalRandom chance = ThreadLocalRandom.current();
        synchronized (pool) {
            long now = time.nanos();
            List<Server> free =
                    pool.stream().filter(server -> server.nanosPaused(now) <= 0).toList();
            if (free.isEmpty()) {
                long pause = pool.stream()
                        .mapToLong(server -> server.nanosPaused(now))
                        .min()
                        .getAsLong();
                return new Choice(null, pause + (long) (JITTER * pause * chance.nextDouble()));
            }
            Server home = homes.get(trajectory);
            if (home == null || !free.contains(home)) {
                int offset = chance.nextInt(free.size()); // who comes first among equals
                List<Server> shuffled = new ArrayList<>(free.subList(offset, free.size()));
                shuffled.addAll(free.subList(0, offset));
                home = shuffled.stream()
                        .min(Comparator.comparingInt(Server::inFlight))
                        .get();
                homes.put(trajectory, home);
            }
            home.begin();
            return new Choice(home, 0);
        }
    }

    void ended(Server server) {
        synchronized (pool) {
            server.end();
        }
    }

    void succeeded(Server server) {
        synchronized (pool) {
            server.succeeded();
        }
    }

    /** Leaves a server alone for a while; {@code asked} is for how long it wants that, or null. */
    void failed(Server server, Duration asked) {
        synchronized (pool) {
            server.failed(time.nanos(), asked);
        }
    }

    // ---- what is sent

    /** The body of a request, the same for every attempt. */
    byte[] body(ModelRequest request) {
        ObjectNode body = dialect.question(request);
        body.put("model", servers.model()).put("temperature", sampling.temperature());
        if (sampling.temperature() > 0) {
            body.put("seed", seeds.applyAsLong(request));
            body.put("top_p", sampling.topP());
            if (sampling.topK() > 0) {
                body.put("top_k", sampling.topK());
            }
            if (sampling.minP() > 0) {
                body.put("min_p", sampling.minP());
            }
        }
        if (!sampling.stop().isEmpty()) {
            ArrayNode stop = body.putArray("stop");
            sampling.stop().forEach(stop::add);
        }
        return body.toString().getBytes(StandardCharsets.UTF_8);
    }

    URI uri(Server server) {
        return URI.create(server.address() + dialect.path());
    }

    CompletableFuture<HttpResponse<byte[]>> send(Server server, ModelRequest request, byte[] body, int attempt) {
        TrajectoryId trajectory = request.trajectory();
        String session = poolId + "-" + trajectory.position() + "-" + trajectory.sampleIndex();
        HttpRequest.Builder builder = HttpRequest.newBuilder(uri(server))
                .header("Content-Type", "application/json")
                .header("X-Session-Id", session)
                .header("X-Request-Id", session + "-" + request.turn() + "-" + attempt)
                .POST(HttpRequest.BodyPublishers.ofByteArray(body));
        if (key != null) {
            builder.header("Authorization", "Bearer " + key);
        }
        return http.sendAsync(builder.build(), HttpResponse.BodyHandlers.ofByteArray());
    }

    /** A text of a server, for a message: short, in one line, and without the key, which some servers repeat. */
    String shown(byte[] text) {
        String line =
                new String(text, StandardCharsets.UTF_8).replaceAll("\\s+", " ").strip();
        String safe = key == null ? line : line.replace(key, "[key]");
        return safe.length() <= 300 ? safe : safe.substring(0, 297) + "...";
    }
}
