package io.bellows.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class SessionTest {

    private static final String KILL_TIMEOUT = "spark.task.reaper.killTimeout";

    /** Without the reaper a rank that hangs keeps its slot for ever, and the next attempt of the update waits for it. */
    @Test
    void aTaskThatDoesNotEndCostsItsExecutorAfterTwoMinutes() {
        assertThat(Session.properties(Map.of()))
                .containsEntry("spark.task.reaper.enabled", "true")
                .containsEntry(KILL_TIMEOUT, "120s");
    }

    @Test
    void theConfigurationWinsOverUsAndSparkSubmitOverTheConfiguration() {
        Map<String, String> configured = Map.of(KILL_TIMEOUT, "30s");
        assertThat(Session.properties(configured)).containsEntry(KILL_TIMEOUT, "30s");
        System.setProperty(KILL_TIMEOUT, "40s");
        try {
            assertThat(Session.properties(configured)).doesNotContainKey(KILL_TIMEOUT);
        } finally {
            System.clearProperty(KILL_TIMEOUT);
        }
    }
}
