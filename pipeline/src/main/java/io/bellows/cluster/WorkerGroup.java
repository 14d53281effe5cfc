package io.bellows.cluster;

import java.io.Serializable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.apache.spark.SparkContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;

/**
 * Executors that work together, one rank on each. The driver calls the methods of an interface; each call is a job of one barrier stage,
 * in which every rank makes its worker and calls the same method on it. {@link Register} says how arguments and results travel.
 *
 * <p>A rank that is lost makes Spark run the call again, on whatever executors there are then.
 *
 * @param spark the session
 * @param ranks how many work together
 * @param patience longest wait of a rank for another
 * @param modes the dispatch modes that the interface may name
 */
public record WorkerGroup(SparkSession spark, int ranks, Duration patience, DispatchModes modes) {

    private static final String DESCRIPTION = "spark.job.description";

    /** What a rank gives back. */
    private record Answer(int rank, Object value) implements Serializable {}

    /** Which method of which worker to call. */
    private record Call(WorkerFactory<?> factory, Class<?> type, String method, Class<?>... parameters)
            implements Serializable {

        Iterator<Answer> answer(Object[] arguments, Rendezvous meeting) throws ReflectiveOperationException {
            Method called = type.getDeclaredMethod(method, parameters);
            called.setAccessible(true); // the interface may be its package's own
            try {
                Object value = called.invoke(factory.create(meeting), arguments);
                Object told = value instanceof CompletableFuture<?> future ? future.join() : value;
                return List.of(new Answer(meeting.rank(), told)).iterator();
            } catch (InvocationTargetException e) {
                if (e.getCause() instanceof RuntimeException cause) {
                    throw cause;
                }
                if (e.getCause() instanceof Error cause) {
                    throw cause;
                }
                throw e;
            }
        }
    }

    /**
     * A group that knows the standard dispatch modes.
     *
     * @param spark the session
     * @param ranks how many work together
     * @param patience longest wait of a rank for another
     */
    public WorkerGroup(SparkSession spark, int ranks, Duration patience) {
        this(spark, ranks, patience, DispatchModes.standard());
    }

    /**
     * Returns what the driver calls the ranks by. Calls run one after the other in the order in which they were made, also those that the
     * driver does not wait for. A call that fails throws a {@link RankFailure}, and the future of one that the driver does not wait for ends
     * with it; cancelling the future does not stop the ranks.
     *
     * @param type the worker interface; every method has {@link Register}
     * @param factory makes the worker of a rank, on its executor
     * @param <W> the worker interface
     * @return the proxy
     * @throws IllegalArgumentException naming each method whose signature does not fit its mode
     */
    public <W> W workers(Class<W> type, WorkerFactory<W> factory) {
        Signatures signatures = Signatures.of(type, modes);
        CallOrder order = new CallOrder();
        Object proxy = Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, given) -> {
            if (method.getDeclaringClass() == Object.class) {
                return ofObject(self, method, given, type);
            }
            DispatchMode mode = signatures.mode(method);
            List<Object[]> dealt = deal(method, mode, given == null ? List.of() : Arrays.asList(given));
            String about = Signatures.name(method) + " on " + ranks + " ranks";
            Call call = new Call(factory, method.getDeclaringClass(), method.getName(), method.getParameterTypes());
            Supplier<Object> job = () -> mode.collect(run(about, call, dealt));
            return signatures.blocking(method) ? order.now(job) : order.later(about, job);
        });
        return type.cast(proxy);
    }

    private Object ofObject(Object proxy, Method method, Object[] given, Class<?> type) {
        return switch (method.getName()) {
            case "equals" -> proxy == given[0];
            case "hashCode" -> System.identityHashCode(proxy);
            default -> ranks + " ranks of " + type.getSimpleName();
        };
    }

    private List<Object[]> deal(Method method, DispatchMode mode, List<Object> arguments) {
        try {
            List<Object[]> dealt = mode.deal(arguments, ranks);
            if (dealt.size() != ranks || dealt.stream().allMatch(Objects::isNull)) {
                throw new IllegalArgumentException("its dispatch mode dealt arguments to " + dealt.size() + " of "
                        + ranks + " ranks; deal an array to each rank, or null to some");
            }
            return dealt;
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("Cannot call " + Signatures.name(method) + ": " + e.getMessage(), e);
        }
    }

    /** Runs the job of a call; returns what the ranks that take part returned, by rank. */
    private List<Object> run(String about, Call call, List<Object[]> dealt) {
        int[] present = IntStream.range(0, ranks)
                .filter(rank -> dealt.get(rank) != null)
                .toArray();
        Rendezvous meeting = Rendezvous.of(ranks, present, patience);
        Object[][] arguments = Arrays.stream(present).mapToObj(dealt::get).toArray(Object[][]::new);
        SparkContext context = spark.sparkContext();
        String before = context.getLocalProperty(DESCRIPTION);
        context.setJobDescription(about);
        try {
            return answers(call, arguments, meeting).stream()
                    .sorted(Comparator.comparingInt(Answer::rank))
                    .map(Answer::value)
                    .toList();
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) { // Spark's own, which Scala does not declare
            throw new RankFailure(about, e);
        } finally {
            context.setJobDescription(before);
        }
    }

    /** One task for each rank that takes part; where there are rows, each task has those of its rank. */
    private List<Answer> answers(Call call, Object[][] arguments, Rendezvous meeting) throws Exception {
        int rowsAt = IntStream.range(0, arguments[0].length)
                .filter(i -> arguments[0][i] instanceof RankRows)
                .findFirst()
                .orElse(-1);
        if (rowsAt < 0) {
            JavaRDD<Object[]> tasks = JavaSparkContext.fromSparkContext(spark.sparkContext())
                    .parallelize(Arrays.asList(arguments), arguments.length);
            return BarrierRdd.collect(
                    OneTaskPerExecutor.where(arguments.length > 1, tasks), task -> call.answer(task.next(), meeting));
        }
        RankRows rows = (RankRows) arguments[0][rowsAt];
        Object[][] others = Arrays.stream(arguments).map(Object[]::clone).toArray(Object[][]::new);
        Arrays.stream(others).forEach(each -> each[rowsAt] = null); // rows travel by themselves
        return BarrierRdd.collect(OneTaskPerExecutor.where(ranks > 1, rows.partitions(ranks)), task -> {
            Object[] own = others[meeting.task()];
            own[rowsAt] = RankRows.own(task);
            return call.answer(own, meeting);
        });
    }
}
