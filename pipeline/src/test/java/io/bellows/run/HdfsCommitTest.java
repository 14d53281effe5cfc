package io.bellows.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commits of a run on HDFS, with a name node and a data node of its own. */
@Tag("slow")
class HdfsCommitTest extends CommitScenarios {

    @TempDir
    private static File folder;

    private static MiniDFSCluster hdfs;

    @BeforeAll
    static void startHdfs() throws IOException {
        Configuration hadoop = new Configuration(spark.sparkContext().hadoopConfiguration());
        hdfs = new MiniDFSCluster.Builder(hadoop, folder).numDataNodes(1).build();
    }

    @AfterAll
    static void stopHdfs() {
        hdfs.shutdown();
    }

    @Override
    FileSystem store() throws IOException {
        return hdfs.getFileSystem();
    }

    @Test
    void ofManyWritersOfOneManifestTheFirstWinsAndTheOthersLeaveNothing() throws Exception {
        Path file = new Path("/manifests/manifest.json");
        List<Boolean> created = ManyWriters.create(store(), store().getConf(), file, 8);

        assertThat(created).containsOnlyOnce(true);
        RunFiles files = new RunFiles(store().getUri() + "/manifests", store().getConf());
        assertThat(files.list(file.getParent())).hasSize(1);
        assertThat(files.text(file)).hasValue(ManyWriters.content(created.indexOf(true)));
    }
}
