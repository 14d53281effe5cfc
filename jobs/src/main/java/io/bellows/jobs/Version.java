package io.bellows.jobs;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine.IVersionProvider;

/** The versions of the program and of what it stands on. */
final class Version implements IVersionProvider {

    @Override
    public String[] getVersion() {
        return new String[] {"bellows " + bellows(), "Spark " + spark(), "Java " + Runtime.version()};
    }

    /** Version of Bellows, from the build. */
    static String bellows() {
        try (InputStream in = Version.class.getResourceAsStream("version.txt")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Version of the Spark on the class path. */
    static String spark() {
        return org.apache.spark.package$.MODULE$.SPARK_VERSION();
    }
}
