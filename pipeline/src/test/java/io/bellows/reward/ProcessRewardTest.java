package io.bellows.reward;

import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import com.example.Troublesome;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.bellows.config.InvalidConfigException;
import io.bellows.config.RewardConfig;
import io.bellows.reward.RewardOutcome.Status;
import io.bellows.text.Message;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What a reward function does in a process of its own costs its trajectory the reward, and no other. */
class ProcessRewardTest {

    private static WeightedRewards rewards(String function, Object... options) {
        Map<String, Object> all = new LinkedHashMap<>();
        for (int i = 0; i < options.length; i += 2) {
            all.put((String) options[i], options[i + 1]);
        }
        return RewardRegistry.standard().create(List.of(new RewardConfig.Function(function, 1, all)));
    }

    private static RewardScore score(WeightedRewards rewards, String response) {
        return rewards.score(new RewardInput(
                "test",
                List.of(new Message("user", "two\nlines \u00e4", "[]", "id", null)),
                List.of(Message.of("assistant", response)),
                response,
                3,
                "4",
                0.5,
                JsonNodeFactory.instance.objectNode().put("bonus", 10)));
    }

    @Test
    void whatSpinsEndsTheJvmOrTakesAllMemoryHasFailedAndTheNextOneIsScored() {
        long before = children();
        WeightedRewards rewards =
                rewards("troublesome", "value", 2, "process_timeout_s", 5, "process_memory_mb", 64, "as", "own");

        assertThat(score(rewards, "well").reward()).isEqualTo(13);
        assertThat(score(rewards, "well").components()).containsEntry("own", 13.0);
        for (String trouble : List.of("spin", "exit", "memory", "throw")) {
            RewardScore failed = score(rewards, trouble);
            assertThat(failed.status()).as(trouble).isEqualTo(Status.FAILED);
            assertThat(failed.message())
                    .contains(
                            switch (trouble) {
                                case "spin" -> "own: it took longer than 5.0 s and was killed";
                                case "throw" -> "IllegalStateException: broken\nin two lines";
                                default -> "own: its process ended";
                            });
            assertThat(score(rewards, "well").reward()).as("after " + trouble).isEqualTo(13);
        }
        assertThat(score(rewards, "pass").message()).isEqualTo("own: no opinion");
        assertThat(score(rewards, "forge").reward()).isZero();
        assertThat(score(rewards, "well").reward()).as("after forge").isEqualTo(13);
        assertThat(ProcessHandle.allProcesses()
                        .filter(process -> List.of(process.info().arguments().orElse(new String[0]))
                                .contains(Troublesome.SLEEP))
                        .filter(ProcessHandle::isAlive))
                .as("what the function had started")
                .isEmpty();
        assertThat(children()).as("all but one were killed").isLessThanOrEqualTo(before + 1);
    }

    @Test
    void aProcessThatReadsNothingCostsItsTimeLimitAndNotTheTask() throws Exception {
        Set<ProcessHandle> before = ProcessHandle.current().children().collect(toSet());
        WeightedRewards rewards = rewards("troublesome", "process_timeout_s", 2);
        assertThat(score(rewards, "well").reward()).isEqualTo(12);
        ProcessHandle stopped = ProcessHandle.current()
                .children()
                .filter(child -> !before.contains(child))
                .findFirst()
                .orElseThrow();
        assertThat(new ProcessBuilder("kill", "-STOP", "" + stopped.pid())
                        .start()
                        .waitFor())
                .isZero();

        String more = "well".repeat(1 << 20); // than the pipe to it holds
        RewardScore late = assertTimeoutPreemptively(Duration.ofSeconds(60), () -> score(rewards, more));

        assertThat(late.status()).isEqualTo(Status.FAILED);
        assertThat(late.message()).contains("it took longer than 2.0 s and was killed");
        assertThat(score(rewards, "well").reward()).as("of a new process").isEqualTo(12);
    }

    private static long children() {
        return ProcessHandle.current().children().filter(ProcessHandle::isAlive).count();
    }

    @Test
    void itSeesNothingOfTheEnvironmentButWhatAProcessNeeds() {
        String seen = score(rewards("troublesome", "process_timeout_s", 60), "environment")
                .message();
        assertThat(seen.replace("troublesome: ", "").split(","))
                .isSubsetOf("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "LD_LIBRARY_PATH");
        assertThat(seen).contains("PATH");
    }

    @Test
    void itsOptionsAreChecked() {
        assertThatThrownBy(() -> rewards("exact_match", "process_memory_mb", 64))
                .isInstanceOf(InvalidConfigException.class)
                .hasMessageContaining("only a function with process_timeout_s has a process of its own");
        assertThatThrownBy(() -> rewards("exact_match", "process_timeout_s", 0))
                .hasMessageContaining("Invalid process_timeout_s=0.0: expected seconds");
        assertThatThrownBy(() -> rewards("exact_match", "process_timeout_s", 1, "process_memory_mb", 1))
                .hasMessageContaining("Invalid process_memory_mb=1.0: expected MiB, 16 or more");
        assertThatThrownBy(() -> rewards("majority_match", "process_timeout_s", 1))
                .hasMessageContaining("Unsupported process_timeout_s of majority_match");
        assertThatThrownBy(() -> rewards("exact_match", "process_timeout_s", 1, "other", 1))
                .hasMessageContaining("Unsupported options [other] of exact_match");
    }
}
