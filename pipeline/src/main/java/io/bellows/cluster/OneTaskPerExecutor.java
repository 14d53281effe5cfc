package io.bellows.cluster;

import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.resource.ResourceProfileBuilder;
import org.apache.spark.resource.TaskResourceRequests;

/**
 * Lets Spark give each executor one task of a stage at a time: a task asks for more than half of its cores, and for its GPU. Other
 * stages keep the task size of the configuration. Where the size of an executor is not configured, that of the configuration holds.
 */
final class OneTaskPerExecutor {

    private OneTaskPerExecutor() {}

    static <T> JavaRDD<T> where(boolean wanted, JavaRDD<T> rdd) {
        SparkConf conf = rdd.context().getConf();
        int cores = Cluster.coresPerExecutor(conf);
        if (!wanted || cores == 0) {
            return rdd;
        }
        TaskResourceRequests requests = new TaskResourceRequests().cpus(cores / 2 + 1);
        if (Cluster.asksForGpu(conf)) {
            requests.resource("gpu", Math.max(1, conf.getDouble("spark.task.resource.gpu.amount", 1)));
        }
        ResourceProfile profile = new ResourceProfileBuilder().require(requests).build();
        return rdd.withResources(profile);
    }
}
