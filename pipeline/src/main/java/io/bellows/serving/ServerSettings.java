package io.bellows.serving;

import java.time.Duration;

/**
 * Where and how a server listens.
 *
 * @param host address to bind; {@code 127.0.0.1} is reached from this machine only
 * @param port port, 0 for any free one
 * @param apiKey bearer key that every request but {@code /health} must bring, or null
 * @param limit longest time for one request
 */
public record ServerSettings(String host, int port, String apiKey, Duration limit) {

    /** Without the key. */
    @Override
    public String toString() {
        return "ServerSettings[" + host + ":" + port + ", " + (apiKey == null ? "no key" : "with a key") + ", " + limit
                + "]";
    }
}
