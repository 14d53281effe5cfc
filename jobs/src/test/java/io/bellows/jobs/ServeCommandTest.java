package io.bellows.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.Test;

class ServeCommandTest {

    private static final String MODEL = "../pipeline/src/test/resources/golden/models/qwen2";

    @Test
    void servesUntilItIsStopped() throws Exception {
        try (RunningServer server = RunningServer.start(MODEL)) {
            HttpResponse<String> models = HttpClient.newHttpClient()
                    .send(
                            HttpRequest.newBuilder(URI.create(server.address() + "/v1/models"))
                                    .build(),
                            HttpResponse.BodyHandlers.ofString());
            assertThat(models.body()).contains("\"id\":\"tiny\"");
        }
    }

    @Test
    void aLengthBeyondTheModelIsRefused() {
        CommandLineRun run = CommandLineRun.of("serve", "--model", MODEL, "--max-model-len", "1000000");

        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err()).contains("--max-model-len 2 to").contains("got 64, 600, 8000 and 1000000");
    }
}
