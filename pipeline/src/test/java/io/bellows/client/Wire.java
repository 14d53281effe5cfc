package io.bellows.client;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The network before a server, which can be cut: then every connection breaks and none is accepted any more, as when the server's
 * process is killed.
 */
public final class Wire implements AutoCloseable {

    private static final String REQUEST = "POST ";

    private final ServerSocket listener;
    private final int target;
    private final int cutAfter;
    private final List<Socket> open = new ArrayList<>();
    private int requests;
    private boolean cut;

    /**
     * A wire to a server of this machine.
     *
     * @param target its port
     * @param cutAfter the request with which it is cut, after the server has it and before it can answer; 0 for never
     */
    public Wire(int target, int cutAfter) throws IOException {
        this.target = target;
        this.cutAfter = cutAfter;
        this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        start(this::accept);
    }

    public URI address() {
        return URI.create("http://127.0.0.1:" + listener.getLocalPort() + "/v1");
    }

    /** Requests that came through. */
    public synchronized int requests() {
        return requests;
    }

    /** Breaks all connections and accepts no more. */
    @Override
    public synchronized void close() {
        cut = true;
        try {
            listener.close();
            for (Socket socket : open) {
                socket.close();
            }
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private void accept() throws IOException {
        while (true) {
            Socket client = listener.accept();
            Socket server = new Socket(InetAddress.getLoopbackAddress(), target);
            synchronized (this) {
                open.add(client);
                open.add(server);
                if (cut) {
                    close();
                    return;
                }
            }
            start(() -> pass(client, server, true));
            start(() -> pass(server, client, false));
        }
    }

    private void pass(Socket from, Socket to, boolean counts) throws IOException {
        InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream();
        byte[] buffer = new byte[1 << 16];
        for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
            out.write(buffer, 0, read);
            out.flush();
            if (counts && new String(buffer, 0, read, StandardCharsets.ISO_8859_1).startsWith(REQUEST)) {
                count();
            }
        }
        to.close();
    }

    private synchronized void count() {
        requests++;
        if (requests == cutAfter) {
            close();
        }
    }

    /** A part of the wire. */
    private interface Part {
        void run() throws IOException;
    }

    private static void start(Part part) {
        Thread thread = new Thread(
                () -> {
                    try {
                        part.run();
                    } catch (IOException e) {
                        // cut, or hung up
                    }
                },
                "wire");
        thread.setDaemon(true);
        thread.start();
    }
}
