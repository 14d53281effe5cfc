package io.bellows.training;

import io.bellows.model.PackedSequences.Sequence;

/**
 * One row of an update: a prompt, what followed it, and what the loss needs to know of each token that followed.
 *
 * @param id names the row in errors; the rows of a trajectory, its segments, have the same one
 * @param promptIds tokens of the prompt, at least one
 * @param responseIds tokens after the prompt, R
 * @param mask whether the token was sampled by the policy (supervised: is to be learned), R
 * @param oldLogProbs log-probs before the update, R, or null for supervised fine-tuning
 * @param refLogProbs log-probs of the reference policy, R, or null
 * @param advantages advantage of each token, R, or null for supervised fine-tuning
 * @param values what the critic expected before each token, R, or null without a critic
 * @param returns what it should have expected, R, or null for supervised fine-tuning
 * @param importanceWeights factor of each token's policy loss, R, or null for 1
 * @param selected tokens that the policy loss chose in the mini-batch, R, or null where it chooses none
 */
public record TrainingSequence(
        String id,
        int[] promptIds,
        int[] responseIds,
        boolean[] mask,
        float[] oldLogProbs,
        float[] refLogProbs,
        float[] advantages,
        float[] values,
        float[] returns,
        float[] importanceWeights,
        boolean[] selected) {

    /** A row of supervised fine-tuning. */
    public static TrainingSequence lesson(String id, int[] promptIds, int[] responseIds, boolean[] mask) {
        return new TrainingSequence(id, promptIds, responseIds, mask, null, null, null, null, null, null, null);
    }

    /** The same row with tokens that the policy loss chose. */
    TrainingSequence withSelected(boolean[] tokens) {
        return new TrainingSequence(
                id,
                promptIds,
                responseIds,
                mask,
                oldLogProbs,
                refLogProbs,
                advantages,
                values,
                returns,
                importanceWeights,
                tokens);
    }

    /** The same row, of which only some tokens are learned, with weights or null for none. */
    TrainingSequence corrected(boolean[] learned, float[] weights) {
        return new TrainingSequence(
                id,
                promptIds,
                responseIds,
                learned,
                oldLogProbs,
                refLogProbs,
                advantages,
                values,
                returns,
                weights,
                selected);
    }

    /** Returns the number of sampled tokens of the response. */
    long sampledTokens() {
        long sampled = 0;
        for (boolean bit : mask) {
            sampled += bit ? 1 : 0;
        }
        return sampled;
    }

    /**
     * Returns the number of tokens of prompt and response.
     *
     * @return the length
     */
    public int length() {
        return promptIds.length + responseIds.length;
    }

    /**
     * Joins prompt and response for the decoder, which scores the response.
     *
     * @return the sequence
     */
    public Sequence sequence() {
        int[] ids = new int[length()];
        System.arraycopy(promptIds, 0, ids, 0, promptIds.length);
        System.arraycopy(responseIds, 0, ids, promptIds.length, responseIds.length);
        return new Sequence(ids, promptIds.length);
    }
}
