package io.bellows.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.spark.launcher.JavaModuleOptions;
import org.junit.jupiter.api.Test;

class JvmOptionsTest {

    @Test
    void launcherAndTestsRunWithTheOptionsSparkItselfUses() throws IOException {
        assertThat(Files.readAllLines(Path.of("../conf/jvm.options")))
                .containsExactly(JavaModuleOptions.defaultModuleOptionArray());
    }
}
