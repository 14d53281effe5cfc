package io.bellows.cluster;

import java.io.Serializable;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.JavaRDD;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction1;

/** Barrier execution for Java: Spark offers it on Scala RDDs only. */
final class BarrierRdd {

    private BarrierRdd() {}

    /** What each task of a barrier stage runs. */
    interface PartitionFunction<T, U> extends Serializable {
        Iterator<U> apply(Iterator<T> rows) throws Exception;
    }

    /**
     * Runs one task per partition, all at once or none, and returns what they returned.
     *
     * <p>Spark never retries a barrier stage that is the last of its job; a shuffle behind it makes it retry.
     */
    static <T, U> List<U> collect(JavaRDD<T> rows, PartitionFunction<T, U> function) {
        return rows.rdd()
                .barrier()
                .mapPartitions(new Adapter<>(function), false, ClassTag$.MODULE$.<U>apply(Object.class))
                .toJavaRDD()
                .repartition(1)
                .collect();
    }

    private static final class Adapter<T, U>
            extends AbstractFunction1<scala.collection.Iterator<T>, scala.collection.Iterator<U>>
            implements Serializable {

        private static final long serialVersionUID = 1L;

        private final PartitionFunction<T, U> function;

        Adapter(PartitionFunction<T, U> function) {
            this.function = function;
        }

        @Override
        public scala.collection.Iterator<U> apply(scala.collection.Iterator<T> rows) {
            try {
                return scala.jdk.javaapi.CollectionConverters.asScala(
                        function.apply(scala.jdk.javaapi.CollectionConverters.asJava(rows)));
            } catch (RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new IllegalStateException("Cannot run a task of the barrier stage: " + e.getMessage(), e);
            }
        }
    }
}
