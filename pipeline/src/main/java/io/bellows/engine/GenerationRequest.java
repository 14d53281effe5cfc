package io.bellows.engine;

/**
 * Samples of one prompt, which share its prefill.
 *
 * @param promptIds the prompt, at least one token
 * @param sampling how tokens are drawn
 * @param seeds seed of each sample's own generator; their number is the number of samples
 */
public record GenerationRequest(int[] promptIds, SamplingParams sampling, long[] seeds) {

    /**
     * Checks that there is something to generate.
     *
     * @throws IllegalArgumentException if the prompt or the seeds are empty
     */
    public GenerationRequest {
        if (promptIds.length == 0) {
            throw new IllegalArgumentException("Invalid prompt of 0 tokens: expected at least 1");
        }
        if (seeds.length == 0) {
            throw new IllegalArgumentException("Invalid request for 0 samples: expected at least 1 seed");
        }
        promptIds = promptIds.clone();
        seeds = seeds.clone();
    }
}
