package io.bellows.training.collective;

import java.io.Closeable;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where a rank waits for the one before it. It listens on a port that the system chooses; the ranks tell each other their ports by
 * other means, then all call {@link #connect}.
 *
 * <p>A connection counts only after both sides have shown that they know the secret of the run and are of the same generation; anybody
 * else's is dropped. What travels afterwards is not encrypted.
 */
public final class RingListener implements Closeable {

    private static final Logger LOG = LoggerFactory.getLogger(RingListener.class);
    private static final int BUFFER = 1 << 22;

    private final ServerSocketChannel server;
    private final Handshake handshake;
    private final Duration timeout;

    private RingListener(ServerSocketChannel server, Handshake handshake, Duration timeout) {
        this.server = server;
        this.handshake = handshake;
        this.timeout = timeout;
    }

    /**
     * Starts to listen.
     *
     * @param host the address that other ranks reach this one by
     * @param secret known to the ranks of a run only
     * @param timeout longest wait for another rank
     * @return the listener, to be closed once connected
     * @throws IOException if the address is not this machine's
     */
    public static RingListener bind(InetAddress host, byte[] secret, Duration timeout) throws IOException {
        ServerSocketChannel server = ServerSocketChannel.open();
        try {
            server.setOption(StandardSocketOptions.SO_RCVBUF, BUFFER);
            server.bind(new InetSocketAddress(host, 0));
            return new RingListener(server, new Handshake(secret), timeout);
        } catch (IOException e) {
            server.close();
            throw e;
        }
    }

    /**
     * Returns the port to tell the other ranks.
     *
     * @return a port of this machine
     */
    public int port() {
        return server.socket().getLocalPort();
    }

    /**
     * Connects the ring.
     *
     * @param rank this rank
     * @param ranks where each rank listens
     * @param generation the attempt: ranks of another one are strangers
     * @return the collective, to be closed by the caller; {@link Collective#alone} for one rank
     * @throws CollectiveException if another rank cannot be reached in time
     */
    public Collective connect(int rank, List<InetSocketAddress> ranks, long generation) {
        int size = ranks.size();
        if (size == 1) {
            return Collective.alone();
        }
        int before = Math.floorMod(rank - 1, size);
        int after = (rank + 1) % size;
        CompletableFuture<SocketChannel> accepted = accept(new Handshake.Party(before, generation));
        SocketChannel next = null;
        try {
            next = reach(ranks.get(after), new Handshake.Party(rank, generation));
            SocketChannel previous = accepted.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
            return new Ring(rank, size, next, previous, timeout);
        } catch (IOException | ExecutionException | TimeoutException e) {
            close(next);
            accepted.thenAccept(RingListener::close);
            String whom = next == null ? "reach rank " + after : "hear of rank " + before;
            throw new CollectiveException(
                    rank,
                    "Cannot " + whom + " at " + ranks.get(next == null ? after : before) + " from rank " + rank
                            + " within "
                            + timeout.toSeconds() + " s (" + e.getMessage()
                            + "): executors must reach each other on any port; check firewalls and network policies",
                    e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            close(next);
            accepted.thenAccept(RingListener::close);
            throw new CollectiveException(rank, "Cannot connect rank " + rank + ": it was told to stop", e);
        }
    }

    /** Each connection is heard on a thread of its own, so that one that says nothing keeps nobody waiting. */
    private CompletableFuture<SocketChannel> accept(Handshake.Party wanted) {
        CompletableFuture<SocketChannel> accepted = new CompletableFuture<>();
        daemon("bellows-ring-accept", () -> {
            while (!accepted.isDone() && server.isOpen()) {
                try {
                    SocketChannel channel = server.accept();
                    daemon("bellows-ring-hello", () -> hear(channel, wanted, accepted));
                } catch (IOException e) {
                    accepted.completeExceptionally(e);
                }
            }
        });
        return accepted;
    }

    private void hear(SocketChannel channel, Handshake.Party wanted, CompletableFuture<SocketChannel> accepted) {
        try {
            tune(channel);
            handshake.answer(channel.socket(), wanted);
            if (!accepted.complete(channel)) {
                close(channel);
            }
        } catch (IOException e) {
            LOG.warn("Dropped a connection from {}: {}", channel.socket().getRemoteSocketAddress(), e.getMessage());
            close(channel);
        }
    }

    private SocketChannel reach(InetSocketAddress address, Handshake.Party self) throws IOException {
        SocketChannel channel = SocketChannel.open();
        try {
            tune(channel);
            channel.socket().connect(address, (int) timeout.toMillis());
            handshake.greet(channel.socket(), self);
            return channel;
        } catch (ConnectException | SocketTimeoutException e) {
            close(channel);
            throw e;
        } catch (IOException e) {
            close(channel);
            throw e;
        }
    }

    private static void tune(SocketChannel channel) throws IOException {
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.setOption(StandardSocketOptions.SO_SNDBUF, BUFFER);
        channel.setOption(StandardSocketOptions.SO_RCVBUF, BUFFER);
    }

    private static void daemon(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
    }

    private static void close(Closeable channel) {
        if (channel != null) {
            try {
                channel.close();
            } catch (IOException e) {
                LOG.debug("Cannot close a connection", e); // it was given up
            }
        }
    }

    @Override
    public void close() {
        close(server);
    }
}
