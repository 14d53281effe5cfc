package io.bellows.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.apache.spark.SparkException;
import org.junit.jupiter.api.Test;
import scala.collection.immutable.Map;

class FailureMessageTest {

    @Test
    void theMessageForPeopleComesFirstWhereverItStands() {
        Throwable wrapped = new RuntimeException("Job aborted", new IllegalStateException("Cannot read it"));
        assertThat(FailureMessage.of(wrapped)).isEqualTo("Cannot read it");
    }

    @Test
    void aBarrierStageThatFailedSaysWhy() {
        String quoted =
                "Job aborted due to stage failure: ShuffleMapStage 42 has failed the maximum allowable number of"
                        + " times: 4. Most recent failure reason: Stage failed because barrier task finished unsuccessfully.\n"
                        + "java.io.UncheckedIOException: Cannot write state.safetensors: No space left on device\n"
                        + "\tat io.bellows.model.TensorFile.write(TensorFile.java:50)\n";
        assertThat(FailureMessage.of(new RuntimeException(quoted)))
                .isEqualTo("Cannot write state.safetensors: No space left on device");
    }

    @Test
    void aFileThatSparkCannotReadIsNamedWithWhatToDo() {
        Throwable spark = new SparkException(
                "FAILED_READ_FILE.NO_HINT",
                new Map.Map1<>("path", "file:///run/part-0.parquet"),
                new IOException("not a Parquet file"));
        assertThat(FailureMessage.of(new RuntimeException("Job aborted", spark)))
                .startsWith("Cannot read file:///run/part-0.parquet: it is damaged, or not there;");
    }

    @Test
    void whatNobodyWroteForPeopleIsItsFirstLine() {
        assertThat(FailureMessage.of(new IllegalStateException("odd\nsecond line")))
                .isEqualTo("java.lang.IllegalStateException: odd");
    }
}
