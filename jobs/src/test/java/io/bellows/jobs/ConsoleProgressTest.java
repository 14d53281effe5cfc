package io.bellows.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.bellows.run.Progress;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ConsoleProgressTest {

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private long nanos;

    @Test
    void withoutATerminalEveryStageIsOneLineWithItsRate() {
        try (Progress.Stage stage = progress(Console.Mode.TEXT).start(3, "rollout", 256, "trajectories")) {
            stage.advance(200);
            stage.advance(56);
            nanos += 4_000_000_000L;
        }

        assertThat(out.toString().strip()).isEqualTo("3 rollout          256 trajectories in 4.0 s, 64.0/s");
    }

    @Test
    void aStageThatFailedDoesNotLookFinished() {
        try (Progress.Stage stage = progress(Console.Mode.TEXT).start(3, "rollout", 256, "trajectories")) {
            stage.advance(32);
            nanos += 4_000_000_000L;
        }

        assertThat(out.toString().strip())
                .isEqualTo("3 rollout          stopped after 4.0 s at 32 of 256 trajectories");
    }

    @Test
    void headerIsAlignedInItsOrder() {
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("model", "starter");
        facts.put("algorithm", "grpo");

        progress(Console.Mode.TEXT).header(facts);

        assertThat(out.toString()).isEqualTo("model      starter\nalgorithm  grpo\n");
    }

    @Test
    void withJsonNothingForPeopleReachesStandardOutput() {
        progress(Console.Mode.JSON).message("resumed at iteration 3");

        assertThat(out.toString()).isEmpty();
        assertThat(err.toString()).isEqualTo("resumed at iteration 3\n");
    }

    private Progress progress(Console.Mode mode) {
        return new ConsoleProgress(new Console(new PrintWriter(out), new PrintWriter(err), mode), () -> nanos);
    }
}
