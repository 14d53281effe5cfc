package io.bellows.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/** Asks servers what their model is called ({@code /models}). */
public final class ServedNames {

    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private ServedNames() {}

    /**
     * The same servers with the name of the one model that those which answer have.
     *
     * @throws IllegalStateException if none answers, or they have several models
     */
    public static Servers find(Servers servers) throws InterruptedException {
        String key = ServerPool.key(servers.keyVariable(), System::getenv);
        TreeSet<String> names = new TreeSet<>();
        List<String> problems = new ArrayList<>();
        for (URI address : servers.addresses()) {
            try {
                names.addAll(names(address, key));
            } catch (IOException e) {
                problems.add(address + ": " + e);
            }
        }
        if (names.isEmpty()) {
            throw new IllegalStateException("Cannot ask the servers for their models: " + String.join("; ", problems)
                    + "; start one, or correct the address");
        }
        if (names.size() > 1) {
            throw new IllegalStateException("Cannot choose among the models " + names + " of " + servers.addresses()
                    + ": name one with --served-model-name");
        }
        return servers.named(names.first());
    }

    private static List<String> names(URI address, String key) throws IOException, InterruptedException {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create(address + "/models")).timeout(PATIENCE);
        if (key != null) {
            request.header("Authorization", "Bearer " + key);
        }
        HttpResponse<byte[]> response = HttpClient.newBuilder()
                .connectTimeout(PATIENCE)
                .build()
                .send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
        if (response.statusCode() != 200) {
            throw new IOException("status " + response.statusCode());
        }
        List<String> names = new ArrayList<>();
        for (JsonNode model : JSON.readTree(response.body()).path("data")) {
            names.add(model.path("id").asText());
        }
        return names;
    }
}
