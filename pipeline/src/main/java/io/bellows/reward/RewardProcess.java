package io.bellows.reward;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The other side of {@link ProcessReward}: reads a line that names the function, answers {@value #READY}, then reads a trajectory a line and
 * answers with its outcome. Ends with its standard input, also while the function is busy.
 */
final class RewardProcess {

    static final String READY = "ready";

    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final int LONGEST_REASON = 2000;

    private RewardProcess() {}

    /**
     * Runs until standard input ends.
     *
     * @param args none
     */
    public static void main(String[] args) throws IOException {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.setOut(System.err); // what the function prints is no answer
        System.setIn(new ByteArrayInputStream(new byte[0]));
        JsonNode wanted = JSON.readTree(lines.readLine());
        String key = wanted.path("key").asText();
        RewardFunction function = started(wanted, line -> out.println(prefix(key, 0) + line));
        long question = 1;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String trajectory = line;
            String prefix = prefix(key, question++);
            Thread worker = new Thread(() -> out.println(prefix + answer(function, trajectory)), "reward");
            worker.setDaemon(true);
            worker.start();
        }
        ProcessHandle.current().descendants().forEach(ProcessHandle::destroyForcibly);
        Runtime.getRuntime().halt(0); // the executor is gone, whatever the function still does
    }

    /** What the answer to a question begins with. */
    static String prefix(String key, long question) {
        return key + " " + question + " ";
    }

    private static RewardFunction started(JsonNode wanted, Consumer<String> answer) {
        try {
            RewardFunction function = function(wanted);
            answer.accept(READY);
            return function;
        } catch (RuntimeException | LinkageError e) {
            answer.accept(e.toString().replaceAll("\\R", " "));
            throw e;
        }
    }

    private static RewardFunction function(JsonNode wanted) {
        Map<String, Object> options = new LinkedHashMap<>();
        wanted.path("options").properties().forEach(entry -> options.put(entry.getKey(), value(entry.getValue())));
        return RewardRegistry.standard().factory(wanted.path("name").asText()).create(new RewardOptions(options));
    }

    private static Object value(JsonNode node) {
        return JSON.convertValue(node, Object.class);
    }

    /** One line: JSON text has no line breaks. */
    private static String answer(RewardFunction function, String trajectory) {
        RewardOutcome outcome;
        try {
            outcome = function.score(JSON.readValue(trajectory, RewardInput.class));
            outcome = outcome == null ? RewardOutcome.failed("the function returned null") : outcome;
        } catch (Throwable e) {
            outcome = RewardOutcome.failed(e.toString());
        }
        String reason = outcome.reason();
        return JSON.createObjectNode()
                .put("status", outcome.status().name())
                .put("value", outcome.value())
                .put(
                        "reason",
                        reason == null || reason.length() <= LONGEST_REASON
                                ? reason
                                : reason.substring(0, LONGEST_REASON) + "...")
                .toString();
    }
}
