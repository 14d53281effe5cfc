package io.bellows.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A server of somebody else's, which answers as a test says. */
final class ScriptedServer implements AutoCloseable {

    private static final JsonMapper JSON = JsonMapper.builder().build();

    /** Answers a request that has been read. */
    interface Script {
        void answer(HttpExchange exchange, int number) throws Exception;
    }

    /** A request as it came. */
    record Received(String path, Map<String, List<String>> headers, JsonNode body) {
        String header(String name) {
            return headers.get(name).get(0);
        }
    }

    final List<Received> received = Collections.synchronizedList(new ArrayList<>());
    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();

    ScriptedServer(Script script) {
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.setExecutor(threads);
        server.createContext("/", exchange -> {
            try (exchange) {
                int number;
                synchronized (received) {
                    received.add(new Received(
                            exchange.getRequestURI().getPath(),
                            exchange.getRequestHeaders(),
                            JSON.readTree(exchange.getRequestBody())));
                    number = received.size();
                }
                script.answer(exchange, number);
            } catch (IOException e) {
                throw e;
            } catch (Exception e) {
                throw new IOException(e);
            }
        });
        server.start();
    }

    static void reply(HttpExchange exchange, int status, String body) throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
    }

    URI address() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
