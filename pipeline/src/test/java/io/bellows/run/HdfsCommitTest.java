package io.bellows.run;

import java.io.File;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
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
}
