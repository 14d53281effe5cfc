package io.bellows.client;

import java.io.Serializable;
import java.util.List;

/**
 * How servers sample.
 *
 * @param temperature 0 for greedy
 * @param topK -1 for all tokens
 * @param topP 1 for all tokens
 * @param minP 0 for all tokens
 * @param stop texts that end a turn
 */
public record ServerSampling(double temperature, int topK, double topP, double minP, List<String> stop)
        implements Serializable {

    /** The likeliest token each time. */
    public static final ServerSampling GREEDY = new ServerSampling(0, -1, 1, 0, List.of());
}
