package io.bellows.run;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/** The commits of a run on an S3-compatible server, through Hadoop's {@code s3a}. */
@Tag("slow")
class S3CommitTest extends CommitScenarios {

    @TempDir
    private static Path folder;

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
}
