package io.bellows.reward;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

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
        PrintStream answers = System.out;
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.setOut(System.err); // what the function prints is no answer
        System.setIn(new ByteArrayInputStream(new byte[0]));
        RewardFunction function = function(lines.readLine());
        answers.println(READY);
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            RewardInput input = JSON.readValue(line, RewardInput.class);
            Thread worker = new Thread(() -> answer(function, input, answers), "reward");
            worker.setDaemon(true);
            worker.start();
        }
        Runtime.getRuntime().halt(0); // the executor is gone, whatever the function still does
    }

    private static RewardFunction function(String line) throws IOException {
        JsonNode wanted = JSON.readTree(line);
        Map<String, Object> options = new LinkedHashMap<>();
        wanted.path("options").properties().forEach(entry -> options.put(entry.getKey(), value(entry.getValue())));
        return RewardRegistry.standard().factory(wanted.path("name").asText()).create(new RewardOptions(options));
    }

    private static Object value(JsonNode node) {
        return JSON.convertValue(node, Object.class);
    }

    private static void answer(RewardFunction function, RewardInput input, PrintStream answers) {
        RewardOutcome outcome;
        try {
            outcome = function.score(input);
            outcome = outcome == null ? RewardOutcome.failed("the function returned null") : outcome;
        } catch (Throwable e) {
            outcome = RewardOutcome.failed(e.toString());
        }
        String reason = outcome.reason();
        var json = JSON.createObjectNode()
                .put("status", outcome.status().name())
                .put("value", outcome.value())
                .put(
                        "reason",
                        reason == null || reason.length() <= LONGEST_REASON
                                ? reason
                                : reason.substring(0, LONGEST_REASON) + "...");
        answers.println(json); // one line: JSON text has no line breaks
    }
}
