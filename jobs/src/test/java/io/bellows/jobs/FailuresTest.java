package io.bellows.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FailuresTest {

    @Test
    void theMessageForPeopleComesFirstWhereverItStands() {
        Throwable wrapped = new RuntimeException("Job aborted", new IllegalStateException("Cannot read it"));
        assertThat(Failures.message(wrapped)).isEqualTo("Cannot read it");
    }

    @Test
    void aBarrierStageThatFailedSaysWhy() {
        String quoted =
                "Job aborted due to stage failure: ShuffleMapStage 42 has failed the maximum allowable number of"
                        + " times: 4. Most recent failure reason: Stage failed because barrier task finished unsuccessfully.\n"
                        + "java.io.UncheckedIOException: Cannot write state.safetensors: No space left on device\n"
                        + "\tat io.bellows.model.TensorFile.write(TensorFile.java:50)\n";
        assertThat(Failures.message(new RuntimeException(quoted)))
                .isEqualTo("Cannot write state.safetensors: No space left on device");
    }

    @Test
    void whatNobodyWroteForPeopleIsItsFirstLine() {
        assertThat(Failures.message(new IllegalStateException("odd\nsecond line")))
                .isEqualTo("java.lang.IllegalStateException: odd");
    }
}
