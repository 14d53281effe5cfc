package io.bellows.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commits of a run on an S3-compatible server, through Hadoop's {@code s3a}. */
@Tag("slow")
class S3CommitTest extends CommitScenarios {

    @TempDir
    private static java.nio.file.Path folder;

    private static S3Server server;
    private static FileSystem store;

    @BeforeAll
    static void startServer() throws Exception {
        server = S3Server.start(folder);
        Configuration hadoop = spark.sparkContext().hadoopConfiguration();
        server.properties().forEach(hadoop::set);
        store = FileSystem.get(URI.create("s3a://" + S3Server.BUCKET), hadoop);
    }

    @AfterAll
    static void stopServer() throws IOException {
        store.close();
        server.properties().keySet().forEach(spark.sparkContext().hadoopConfiguration()::unset);
        server.close();
    }

    @Override
    FileSystem store() {
        return store;
    }

    /** One after the other: S3 answers writers of the same moment in some order, where S3Mock looks first and writes then. */
    @Test
    void aManifestThatIsThereIsNotWrittenAgain() throws IOException {
        Path file = new Path(store.getUri() + "/manifests/manifest.json");
        assertThat(AtomicFile.create(store, store.getConf(), file, bytes("first")))
                .isTrue();
        assertThat(AtomicFile.create(store, store.getConf(), file, bytes("second")))
                .isFalse();

        RunFiles files = new RunFiles(store.getUri() + "/manifests", store.getConf());
        assertThat(files.list(file.getParent())).hasSize(1);
        assertThat(files.text(file)).hasValue("first");
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
