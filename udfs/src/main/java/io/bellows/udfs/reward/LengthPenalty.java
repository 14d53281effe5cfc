package io.bellows.udfs.reward;

import java.io.Serializable;

/**
 * Soft punishment of long responses, in tokens: 0 up to {@code maxLength - buffer}, then falling in a straight line to
 * {@code -1} at {@code maxLength} and further beyond it no more. DAPO (arXiv 2503.14476), equation 13.
 *
 * @param maxLength where it is -1
 * @param buffer how many tokens before that it starts
 */
public record LengthPenalty(int maxLength, int buffer) implements Serializable {

    /**
     * @throws IllegalArgumentException unless 0 &lt; buffer &lt;= maxLength
     */
    public LengthPenalty {
        if (buffer <= 0 || buffer > maxLength) {
            throw new IllegalArgumentException(
                    "Invalid buffer " + buffer + ": it must be between 1 and max_length=" + maxLength);
        }
    }

    /**
     * Scores a response by its length.
     *
     * @param tokens sampled tokens
     * @return from -1 to 0
     */
    public double score(int tokens) {
        double excess = (double) tokens - (maxLength - buffer);
        return excess <= 0 ? 0 : Math.max(-1, -excess / buffer);
    }
}
