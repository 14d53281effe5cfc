package io.bellows.reward;

/**
 * Soft punishment of long responses, in tokens: 0 up to {@code maxLength - buffer}, then falling in a straight line to
 * {@code -1} at {@code maxLength} and further beyond it no more. DAPO (arXiv 2503.14476), equation 13.
 */
final class LengthReward implements RewardFunction {

    private final int maxLength;
    private final int buffer;

    /**
     * A punishment that starts {@code buffer} tokens before {@code maxLength}.
     *
     * @throws IllegalArgumentException unless 0 &lt; buffer &lt;= maxLength
     */
    LengthReward(int maxLength, int buffer) {
        if (buffer <= 0 || buffer > maxLength) {
            throw new IllegalArgumentException(
                    "Invalid buffer " + buffer + ": it must be between 1 and max_length=" + maxLength);
        }
        this.maxLength = maxLength;
        this.buffer = buffer;
    }

    @Override
    public RewardOutcome score(RewardInput input) {
        if (input.response() == null) {
            return RewardOutcome.unscored("no response");
        }
        double excess = (double) input.responseTokens() - (maxLength - buffer);
        return RewardOutcome.of(excess <= 0 ? 0 : Math.max(-1, -excess / buffer));
    }
}
