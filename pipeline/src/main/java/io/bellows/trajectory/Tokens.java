package io.bellows.trajectory;

import java.io.Serializable;

/**
 * The tokens of one segment, as ids; never decoded and encoded again.
 *
 * @param promptIds ids of the prompt
 * @param responseIds ids after the prompt: sampled, or put in by the environment
 * @param responseMask 1 = sampled by the policy, 0 = put in; length of {@code responseIds}
 * @param rolloutLogProbs log-probabilities at the sampling temperature, 0 where the mask is 0; length of {@code responseIds}
 */
@SuppressWarnings("ArrayRecordComponent") // written once, never compared
public record Tokens(int[] promptIds, int[] responseIds, int[] responseMask, float[] rolloutLogProbs)
        implements Serializable {

    private static final Tokens NONE = new Tokens(new int[0], new int[0], new int[0], new float[0]);

    /**
     * Checks the lengths, the mask and the log-probabilities.
     *
     * @throws IllegalArgumentException when lengths differ, the mask is not 0 or 1, a log-probability is above 0 or no
     *     number, or one is not 0 where the mask is
     */
    public Tokens {
        if (responseMask.length != responseIds.length || rolloutLogProbs.length != responseIds.length) {
            throw new IllegalArgumentException("Invalid trajectory: " + responseIds.length + " response ids, "
                    + responseMask.length + " mask values and " + rolloutLogProbs.length
                    + " log-probabilities; all three must be of one length");
        }
        for (int i = 0; i < responseIds.length; i++) {
            boolean sampled = responseMask[i] == 1;
            if (!(sampled ? rolloutLogProbs[i] <= 0 : responseMask[i] == 0 && rolloutLogProbs[i] == 0)) {
                throw new IllegalArgumentException("Invalid trajectory: response token " + i + " has mask "
                        + responseMask[i] + " and log-probability " + rolloutLogProbs[i]
                        + "; expected mask 1 with at most 0, or mask 0 with 0");
            }
        }
    }

    /** Tokens of a trajectory that failed before it had any. */
    public static Tokens none() {
        return NONE;
    }

    /** Tokens of a response the policy sampled from its first to its last token. */
    public static Tokens sampled(int[] promptIds, int[] responseIds, float[] logProbs) {
        int[] mask = new int[responseIds.length];
        java.util.Arrays.fill(mask, 1);
        return new Tokens(promptIds, responseIds, mask, logProbs);
    }
}
