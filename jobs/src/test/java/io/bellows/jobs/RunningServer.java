package io.bellows.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The command {@code serve} on a thread of its own, until it is closed, which interrupts it.
 *
 * @param address where it answers, without {@code /v1}
 */
record RunningServer(String address, Thread thread, FutureTask<Integer> command) implements AutoCloseable {

    private static final Pattern ADDRESS = Pattern.compile("Serving tiny on (http://127\\.0\\.0\\.1:\\d+)/v1");

    /** Serves a model under the name {@code tiny}. */
    static RunningServer start(String model) throws InterruptedException {
        StringWriter out = new StringWriter(); // its buffer is synchronized
        FutureTask<Integer> command =
                new FutureTask<>(() -> new Bellows(new PrintWriter(out, true), new PrintWriter(out, true))
                        .run("serve", "--model", model, "--served-model-name", "tiny", "--port", "0", "--slots", "2"));
        Thread thread = new Thread(command, "serve");
        thread.start();
        Instant deadline = Instant.now().plus(Duration.ofMinutes(2));
        while (thread.isAlive() && Instant.now().isBefore(deadline)) {
            Matcher matcher = ADDRESS.matcher(out.toString());
            if (matcher.find()) {
                return new RunningServer(matcher.group(1), thread, command);
            }
            Thread.sleep(20);
        }
        thread.interrupt();
        throw new AssertionError("the server did not start: " + out);
    }

    @Override
    public void close() throws Exception {
        thread.interrupt();
        assertThat(command.get(1, TimeUnit.MINUTES)).isZero();
    }
}
