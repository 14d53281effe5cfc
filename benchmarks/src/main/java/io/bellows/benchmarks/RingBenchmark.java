package io.bellows.benchmarks;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.bellows.training.collective.Collective;
import io.bellows.training.collective.FloatVector;
import io.bellows.training.collective.RingListener;
import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The sum of a vector over two processes, against a copy of the same bytes both ways through two plain sockets; one after the other in
 * each round, on loopback.
 */
@Command(
        name = "ring",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        description = "Measures reduce-scatter and all-gather of two processes, beside a plain copy of the same bytes.")
final class RingBenchmark implements Callable<Integer> {

    private static final Duration TIMEOUT = Duration.ofMinutes(1);
    private static final byte[] SECRET = "benchmark".getBytes(StandardCharsets.US_ASCII);
    private static final int BUFFER = 1 << 22;

    @Option(names = "--megabytes", defaultValue = "50", description = "Size of the vector.")
    private int megabytes;

    @Option(names = "--warmup", defaultValue = "5", description = "Rounds before the measured ones.")
    private int warmup;

    @Option(names = "--rounds", defaultValue = "21", description = "Measured rounds.")
    private int rounds;

    @Option(names = "--peer", hidden = true, description = "Be rank 1: ports of rank 0's ring and of its plain socket.")
    private List<Integer> peer;

    /** Two connections, one for each direction, as the ring has them. */
    private record Plain(SocketChannel out, SocketChannel in) implements AutoCloseable {
        @Override
        public void close() throws IOException {
            out.close();
            in.close();
        }
    }

    @Override
    public Integer call() throws Exception {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        try (RingListener ring = RingListener.bind(loopback, SECRET, TIMEOUT);
                ServerSocketChannel server = ServerSocketChannel.open()) {
            server.setOption(StandardSocketOptions.SO_RCVBUF, BUFFER);
            server.bind(new InetSocketAddress(loopback, 0));
            return peer == null ? first(ring, server) : second(ring);
        }
    }

    private int first(RingListener ring, ServerSocketChannel server) throws Exception {
        int plainPort = server.socket().getLocalPort();
        Process other = startPeer(ring.port(), plainPort);
        try (BufferedReader told =
                new BufferedReader(new InputStreamReader(other.getInputStream(), StandardCharsets.UTF_8))) {
            int port = Integer.parseInt(told.readLine());
            SocketChannel in = server.accept();
            SocketChannel out = server.accept();
            try (Plain plain = new Plain(out, in);
                    Collective ranks = ring.connect(0, addresses(ring.port(), port), 0)) {
                double[][] seconds = measure(ranks, plain);
                print(seconds[0], seconds[1]);
            }
            return other.waitFor();
        } finally {
            other.destroyForcibly();
        }
    }

    private int second(RingListener ring) throws Exception {
        System.out.println(ring.port());
        InetSocketAddress plainAddress = new InetSocketAddress(InetAddress.getLoopbackAddress(), peer.get(1));
        try (Plain plain = new Plain(connect(plainAddress), connect(plainAddress));
                Collective ranks = ring.connect(1, addresses(peer.get(0), ring.port()), 0)) {
            measure(ranks, plain);
        }
        return 0;
    }

    private static SocketChannel connect(InetSocketAddress address) throws IOException {
        SocketChannel channel = SocketChannel.open();
        channel.setOption(StandardSocketOptions.SO_SNDBUF, BUFFER);
        channel.setOption(StandardSocketOptions.SO_RCVBUF, BUFFER);
        channel.connect(address);
        return channel;
    }

    private static List<InetSocketAddress> addresses(int first, int second) {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        return List.of(new InetSocketAddress(loopback, first), new InetSocketAddress(loopback, second));
    }

    /** Seconds of the ring and of the plain copy, for each round; both processes start each together. */
    private double[][] measure(Collective ranks, Plain plain) throws Exception {
        ByteBuffer memory = ByteBuffer.allocateDirect(megabytes * 1_000_000);
        ByteBuffer target = ByteBuffer.allocateDirect(memory.capacity());
        FloatVector vector = FloatVector.of(List.of(memory));
        double[][] seconds = new double[2][rounds];
        for (int round = -warmup; round < rounds; round++) {
            ranks.gather(new byte[0]);
            Stopwatch ring = Stopwatch.start();
            ranks.reduceScatter(vector);
            ranks.allGather(vector);
            ring = ring.stop();
            ranks.gather(new byte[0]);
            Stopwatch copy = Stopwatch.start();
            copy(plain, memory, target);
            copy = copy.stop();
            if (round >= 0) {
                seconds[0][round] = ring.seconds();
                seconds[1][round] = copy.seconds();
            }
        }
        return seconds;
    }

    /** The whole vector out on one thread and another one in on this: of two ranks each sends half of it twice. */
    private static void copy(Plain plain, ByteBuffer memory, ByteBuffer target) throws Exception {
        CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> {
            ByteBuffer source = memory.duplicate().clear();
            try {
                while (source.hasRemaining()) {
                    plain.out().write(source);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        target.clear();
        while (target.hasRemaining()) {
            if (plain.in().read(target) < 0) {
                throw new EOFException("the other process ended");
            }
        }
        sent.get();
    }

    private Process startPeer(int ringPort, int plainPort) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Benchmarks.class.getName(), "ring"));
        command.addAll(List.of("--megabytes", Integer.toString(megabytes)));
        command.addAll(List.of("--warmup", Integer.toString(warmup), "--rounds", Integer.toString(rounds)));
        command.addAll(List.of("--peer", Integer.toString(ringPort), "--peer", Integer.toString(plainPort)));
        return new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private void print(double[] ring, double[] copy) {
        double[] ratios = new double[rounds];
        for (int round = 0; round < rounds; round++) {
            ratios[round] = ring[round] / copy[round];
        }
        PrintStream out = System.out;
        out.println(new ObjectMapper()
                .createObjectNode()
                .put("benchmark", "ring")
                .put("megabytes", megabytes)
                .put("rounds", rounds)
                .put("ring_seconds", Machine.median(ring))
                .put("copy_seconds", Machine.median(copy))
                .put("ratio", Machine.median(ring) / Machine.median(copy))
                .put("median_of_ratios", Machine.median(ratios)));
    }
}
