package io.bellows.client;

import java.io.Serializable;
import java.net.URI;
import java.time.Duration;
import java.util.List;

/**
 * Servers that answer with the same model.
 *
 * @param addresses base address of each, such as {@code http://host:8000/v1}; where one has no path, {@code /v1} is added
 * @param model how requests name the model
 * @param protocol how they are asked
 * @param keyVariable the environment variable that holds the bearer key, read where requests are sent from; null for none. The key itself
 *     is kept nowhere else
 * @param timeout longest time for one turn, retries included
 * @param maxRetries how often a turn is asked for again, 0 or more
 */
public record Servers(
        List<URI> addresses, String model, Protocol protocol, String keyVariable, Duration timeout, int maxRetries)
        implements Serializable {

    /**
     * Checks the addresses.
     *
     * @throws IllegalArgumentException if there is none, or one is not an address of a server
     */
    public Servers {
        if (addresses.isEmpty() || maxRetries < 0 || timeout.isNegative() || timeout.isZero()) {
            throw new IllegalArgumentException("Invalid servers: expected at least one address, a time above 0 and no"
                    + " fewer than 0 retries; got " + addresses + ", " + timeout + " and " + maxRetries);
        }
        addresses = addresses.stream().map(Servers::base).toList();
    }

    /** The same with another name of the model. */
    public Servers named(String name) {
        return new Servers(addresses, name, protocol, keyVariable, timeout, maxRetries);
    }

    private static URI base(URI address) {
        String scheme = String.valueOf(address.getScheme());
        if ((!scheme.equals("http") && !scheme.equals("https")) || address.getHost() == null) {
            throw new IllegalArgumentException(
                    "Invalid server address '" + address + "': expected one such as http://host:8000/v1");
        }
        if (address.getRawUserInfo() != null || address.getRawQuery() != null) {
            throw new IllegalArgumentException("Invalid server address on " + address.getHost()
                    + ": it holds a user, a password or a query; leave them out and name the environment variable"
                    + " that holds the key");
        }
        String path = address.getRawPath().replaceAll("/+$", "");
        return address.resolve(path.isEmpty() ? "/v1" : path);
    }
}
