package io.bellows;

import io.bellows.run.PosixFileSystem;
import io.bellows.udfs.BellowsExtensions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.BeforeAll;

/**
 * Base of every test that needs Spark: one session for the whole test JVM, two cores, loopback only, no user interface.
 *
 * <p>The session ends with the JVM; tests must not stop it and must restore every configuration key they set.
 */
public abstract class SparkTest {

    /** The session all Spark tests share. */
    protected static SparkSession spark;

    @BeforeAll
    static void openSession() {
        spark = Shared.SESSION;
    }

    private static final class Shared {
        static final SparkSession SESSION = open();

        private static SparkSession open() {
            return SparkSession.builder()
                    .master("local[2]")
                    .appName("bellows-tests")
                    .config("spark.ui.enabled", "false")
                    .config("spark.driver.host", "127.0.0.1")
                    .config("spark.driver.bindAddress", "127.0.0.1")
                    .config("spark.sql.shuffle.partitions", "2")
                    .config("spark.sql.adaptive.enabled", "false")
                    .config("spark.sql.codegen.cache.maxEntries", "2000")
                    .config(PosixFileSystem.SETTING, PosixFileSystem.class.getName())
                    .config("spark.sql.session.timeZone", "UTC")
                    .config("spark.sql.extensions", BellowsExtensions.class.getName())
                    .config("spark.sql.warehouse.dir", scratchFolder("warehouse"))
                    .config("spark.local.dir", scratchFolder("local"))
                    .getOrCreate();
        }

        private static String scratchFolder(String name) {
            try {
                Path target = Files.createDirectories(Path.of("target"));
                return Files.createTempDirectory(target, "spark-" + name)
                        .toAbsolutePath()
                        .toString();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
