package io.bellows.benchmarks;

import java.util.LinkedHashSet;
import java.util.Set;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;

/** What Spark lost and ran again. */
final class Losses extends SparkListener {

    private final Set<String> executors = new LinkedHashSet<>();
    private int tasks;
    private int stages;

    synchronized void reset() {
        executors.clear();
        tasks = 0;
        stages = 0;
    }

    @Override
    public synchronized void onExecutorRemoved(SparkListenerExecutorRemoved event) {
        executors.add(event.executorId());
    }

    @Override
    public synchronized void onTaskEnd(SparkListenerTaskEnd event) {
        tasks += event.taskInfo().successful() ? 0 : 1;
    }

    @Override
    public synchronized void onStageSubmitted(SparkListenerStageSubmitted event) {
        stages += event.stageInfo().attemptNumber() > 0 ? 1 : 0;
    }

    @Override
    public synchronized String toString() {
        return executors.size() + " executor lost, " + tasks + " failed tasks and " + stages + " stages run again";
    }
}
