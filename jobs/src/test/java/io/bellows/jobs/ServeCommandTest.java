package io.bellows.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class ServeCommandTest {

    private static final String MODEL = "../pipeline/src/test/resources/golden/models/qwen2";
    private static final Pattern ADDRESS = Pattern.compile("Serving tiny on (http://127\\.0\\.0\\.1:\\d+)/v1");

    @Test
    void servesUntilItIsStopped() throws Exception {
        StringWriter out = new StringWriter(); // its buffer is synchronized
        FutureTask<Integer> command =
                new FutureTask<>(() -> new Bellows(new PrintWriter(out, true), new PrintWriter(out, true))
                        .run("serve", "--model", MODEL, "--served-model-name", "tiny", "--port", "0", "--slots", "2"));
        Thread thread = new Thread(command, "serve");
        thread.start();

        HttpResponse<String> models = HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create(address(out, thread) + "/v1/models"))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
        assertThat(models.body()).contains("\"id\":\"tiny\"");

        thread.interrupt();
        assertThat(command.get(1, TimeUnit.MINUTES)).isZero();
    }

    private static String address(StringWriter out, Thread thread) throws InterruptedException {
        Instant deadline = Instant.now().plus(Duration.ofMinutes(2));
        while (thread.isAlive() && Instant.now().isBefore(deadline)) {
            Matcher matcher = ADDRESS.matcher(out.toString());
            if (matcher.find()) {
                return matcher.group(1);
            }
            Thread.sleep(20);
        }
        throw new AssertionError("the server did not start: " + out);
    }

    @Test
    void aLengthBeyondTheModelIsRefused() {
        CommandLineRun run = CommandLineRun.of("serve", "--model", MODEL, "--max-model-len", "1000000");

        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err()).contains("--max-model-len 2 to").contains("got 64, 600, 8000 and 1000000");
    }
}
