package io.bellows.engine;

import java.util.Arrays;
import java.util.SplittableRandom;

/** One response in the making. Only the engine thread touches it. */
final class Sample {

    private final PromptGroup group;
    private final int index;
    private final GenerationFuture future = new GenerationFuture();
    private final SplittableRandom random;
    private final StopText stopText;
    private int[] ids = new int[16];
    private float[] logProbs = new float[16];
    private int count;

    Sample(PromptGroup group, int index, long seed, StopText stopText) {
        this.group = group;
        this.index = index;
        this.random = new SplittableRandom(seed);
        this.stopText = stopText;
    }

    PromptGroup group() {
        return group;
    }

    GenerationFuture future() {
        return future;
    }

    SamplingParams sampling() {
        return group.request().sampling();
    }

    /** The token that the next step reads. */
    int lastId() {
        return count == 0 ? 0 : ids[count - 1];
    }

    /** Position of {@link #lastId} in the sequence. */
    int lastPosition() {
        return group.length() + count - 1;
    }

    /** A number in [0, 1); one for each step, whatever the others do. */
    double nextUniform() {
        return random.nextDouble();
    }

    /**
     * Appends a drawn token.
     *
     * @return why the response ends with it, or null if it goes on
     */
    FinishReason append(int id, float logProb) {
        if (count == ids.length) {
            ids = Arrays.copyOf(ids, 2 * count);
            logProbs = Arrays.copyOf(logProbs, 2 * count);
        }
        ids[count] = id;
        logProbs[count++] = logProb;
        group.listener().accept(index, id, logProb);
        for (int stop : group.stopIds()) {
            if (id == stop) {
                return FinishReason.STOP;
            }
        }
        if (stopText != null && stopText.completedBy(id)) {
            return FinishReason.STOP;
        }
        return count >= sampling().maxTokens() ? FinishReason.LENGTH : null;
    }

    Generation generation(FinishReason reason) {
        return new Generation(
                Arrays.copyOf(ids, count),
                Arrays.copyOf(logProbs, count),
                reason,
                group.weightsVersion(),
                group.millisSinceAdmission());
    }
}
