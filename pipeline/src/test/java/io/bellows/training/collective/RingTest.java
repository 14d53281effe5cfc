package io.bellows.training.collective;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Ranks as threads of one JVM, over loopback. */
class RingTest {

    private static final Duration LONG = Duration.ofSeconds(60);
    private static final byte[] SECRET = "the secret of this run".getBytes(UTF_8);

    /** Runs a body on every rank at once, each in a thread, and returns what each threw, or null. */
    private static List<Throwable> onRanks(int ranks, Duration timeout, Consumer<Collective> body) throws Exception {
        List<RingListener> listeners = new ArrayList<>();
        List<InetSocketAddress> addresses = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            RingListener listener = RingListener.bind(InetAddress.getLoopbackAddress(), SECRET, timeout);
            listeners.add(listener);
            addresses.add(new InetSocketAddress(InetAddress.getLoopbackAddress(), listener.port()));
        }
        return onRanks(listeners, addresses, body);
    }

    private static List<Throwable> onRanks(
            List<RingListener> listeners, List<InetSocketAddress> addresses, Consumer<Collective> body)
            throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(listeners.size());
        try {
            List<Future<Throwable>> thrown = new ArrayList<>();
            for (int i = 0; i < listeners.size(); i++) {
                int rank = i;
                thrown.add(threads.submit(() -> catchThrowable(() -> {
                    try (RingListener listener = listeners.get(rank);
                            Collective collective = listener.connect(rank, addresses, 1)) {
                        body.accept(collective);
                    }
                })));
            }
            List<Throwable> results = new ArrayList<>();
            for (Future<Throwable> one : thrown) {
                results.add(one.get());
            }
            return results;
        } finally {
            threads.shutdownNow();
        }
    }

    private static List<ByteBuffer> random(int rank, int... sizes) {
        Random random = new Random(rank + 17);
        List<ByteBuffer> parts = new ArrayList<>();
        for (int size : sizes) {
            ByteBuffer part = ByteBuffer.allocateDirect(size * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
            for (int i = 0; i < size; i++) {
                part.putFloat((float) random.nextGaussian());
            }
            parts.add(part.flip());
        }
        return parts;
    }

    private static float[] floats(List<ByteBuffer> parts) {
        List<Float> all = new ArrayList<>();
        parts.forEach(part -> {
            while (part.hasRemaining()) {
                all.add(part.getFloat());
            }
        });
        float[] floats = new float[all.size()];
        for (int i = 0; i < floats.length; i++) {
            floats[i] = all.get(i);
        }
        return floats;
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {"1;7", "2;0", "2;1", "2;300000,1,2", "3;1", "3;1000", "4;5,0,100001", "5;3"})
    void theSumIsThatOfDoublesAndTheSameBitsOnEveryRank(int ranks, String lengths) throws Exception {
        int[] sizes =
                Arrays.stream(lengths.split(",")).mapToInt(Integer::parseInt).toArray();
        float[][] results = new float[ranks][];
        List<Throwable> thrown = onRanks(ranks, LONG, collective -> {
            List<ByteBuffer> parts = random(collective.rank(), sizes);
            FloatVector vector = FloatVector.of(parts);
            collective.reduceScatter(vector);
            collective.allGather(vector);
            results[collective.rank()] = floats(parts);
        });

        assertThat(thrown).containsOnlyNulls();
        double[] expected = new double[Arrays.stream(sizes).sum()];
        for (int rank = 0; rank < ranks; rank++) {
            float[] values = floats(random(rank, sizes));
            for (int i = 0; i < expected.length; i++) {
                expected[i] += values[i];
            }
        }
        for (int i = 0; i < expected.length; i++) {
            assertThat((double) results[0][i]).isCloseTo(expected[i], within(1e-5));
        }
        for (float[] other : results) {
            assertThat(other).isEqualTo(results[0]);
        }
    }

    @Test
    void everyRankHearsWhatEachHasToSay() throws Exception {
        List<List<String>> heard = new ArrayList<>(List.of(List.of(), List.of(), List.of()));
        List<Throwable> thrown = onRanks(3, LONG, collective -> {
            String own = "x".repeat(collective.rank() * 1000);
            heard.set(
                    collective.rank(),
                    collective.gather(own.getBytes(UTF_8)).stream()
                            .map(bytes -> new String(bytes, UTF_8))
                            .toList());
        });
        assertThat(thrown).containsOnlyNulls();
        assertThat(heard).containsOnly(List.of("", "x".repeat(1000), "x".repeat(2000)));
    }

    @Test
    void theFirstErrorIsWhatEveryRankReports() throws Exception {
        List<Throwable> thrown = onRanks(4, LONG, collective -> {
            try {
                if (collective.rank() == 2) {
                    throw new IllegalStateException("Cannot train on: the loss is not finite");
                }
                collective.reduceScatter(FloatVector.of(random(collective.rank(), 10)));
                collective.gather(new byte[] {1});
            } catch (RuntimeException e) {
                collective.abort(e);
                throw e;
            }
        });
        assertThat(thrown.get(2)).isInstanceOf(IllegalStateException.class);
        for (int rank : new int[] {0, 1, 3}) {
            assertThat(thrown.get(rank))
                    .isInstanceOf(CollectiveException.class)
                    .hasMessage("Cannot train on: the loss is not finite");
            assertThat(((CollectiveException) thrown.get(rank)).origin()).isEqualTo(2);
        }
    }

    @Test
    void aRankThatDiesIsNoticedAtOnce() throws Exception {
        List<Throwable> thrown = onRanks(2, LONG, collective -> {
            if (collective.rank() == 1) {
                return; // its connections close, as those of a killed process do
            }
            collective.reduceScatter(FloatVector.of(random(0, 1_000_000)));
        });
        assertThat(thrown.get(0))
                .isInstanceOf(CollectiveException.class)
                .hasMessageContaining("rank 0 lost the connection to rank 1");
    }

    @Test
    void aRankThatHangsIsWaitedForNoLongerThanTheDeadline() throws Exception {
        java.util.concurrent.CountDownLatch others = new java.util.concurrent.CountDownLatch(1);
        List<Throwable> thrown = onRanks(2, Duration.ofMillis(300), collective -> {
            if (collective.rank() == 1) {
                await(others);
                return;
            }
            try {
                collective.gather(new byte[] {1});
            } finally {
                others.countDown();
            }
        });
        assertThat(thrown.get(0))
                .isInstanceOf(CollectiveException.class)
                .hasMessageContaining("nothing came from rank 1 to rank 0 for 0 s")
                .hasMessageContaining("trainer.nccl_timeout");
    }

    private static void await(java.util.concurrent.CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void ranksThatDoDifferentThingsFindOut() throws Exception {
        List<Throwable> thrown = onRanks(2, LONG, collective -> {
            if (collective.rank() == 0) {
                collective.gather(new byte[] {1});
            } else {
                collective.allGather(FloatVector.of(random(1, 8)));
            }
        });
        assertThat(thrown.get(0)).hasMessageContaining("the ranks do different things");
        assertThat(thrown.get(1)).isNotNull();
    }

    @Test
    void vectorsOfDifferentLengthAreRefused() throws Exception {
        List<Throwable> thrown = onRanks(
                2, LONG, collective -> collective.allGather(FloatVector.of(random(0, 8 + 4 * collective.rank()))));
        assertThat(thrown.stream().map(String::valueOf).toList().toString())
                .contains("the ranks hold models of different shape");
    }

    @Test
    void aStrangersConnectionIsDroppedAndTheRanksMeetAllTheSame() throws Exception {
        try (RingListener first = RingListener.bind(InetAddress.getLoopbackAddress(), SECRET, LONG);
                RingListener second = RingListener.bind(InetAddress.getLoopbackAddress(), SECRET, LONG);
                Socket silent = new Socket(InetAddress.getLoopbackAddress(), first.port());
                Socket guessing = new Socket(InetAddress.getLoopbackAddress(), first.port())) {
            guessing.getOutputStream().write(new byte[200]);
            List<InetSocketAddress> addresses = List.of(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), first.port()),
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), second.port()));
            List<Throwable> thrown =
                    onRanks(List.of(first, second), addresses, collective -> collective.gather(new byte[] {1}));
            assertThat(thrown).containsOnlyNulls();
            assertThat(readToEnd(guessing)).isEmpty();
            assertThat(silent.isConnected()).isTrue();
        }
    }

    private static byte[] readToEnd(Socket socket) {
        try {
            return socket.getInputStream().readAllBytes();
        } catch (IOException e) {
            return new byte[0]; // reset: dropped all the same
        }
    }

    @Test
    void aPeerWithAnotherSecretOrOfAnEarlierAttemptIsAStranger() throws Exception {
        Handshake.Party party = new Handshake.Party(1, 3);
        assertThatThrownBy(() -> meet(new Handshake("another".getBytes(UTF_8)), party, party))
                .hasMessageContaining("does not know the secret");
        assertThatThrownBy(() -> meet(new Handshake(SECRET), new Handshake.Party(1, 2), party))
                .hasMessageContaining("it is rank 1 of attempt 2, expected rank 1 of attempt 3");
        assertThatThrownBy(() -> meet(new Handshake(SECRET), new Handshake.Party(0, 3), party))
                .hasMessageContaining("it is rank 0 of attempt 3");
    }

    /** Lets a caller greet a listener that knows the secret; throws what went wrong on either side. */
    private static void meet(Handshake caller, Handshake.Party who, Handshake.Party wanted) throws Exception {
        ExecutorService threads = Executors.newSingleThreadExecutor();
        try (java.net.ServerSocket server = new java.net.ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Socket calling = new Socket(InetAddress.getLoopbackAddress(), server.getLocalPort());
                Socket listening = server.accept()) {
            Future<Throwable> greeting = threads.submit(() -> catchThrowable(() -> caller.greet(calling, who)));
            Throwable answered = catchThrowable(() -> new Handshake(SECRET).answer(listening, wanted));
            listening.close();
            Throwable greeted = greeting.get();
            if (greeted instanceof java.net.ProtocolException mine) {
                throw mine;
            }
            if (answered != null) {
                throw (Exception) answered;
            }
        } finally {
            threads.shutdownNow();
        }
    }
}
