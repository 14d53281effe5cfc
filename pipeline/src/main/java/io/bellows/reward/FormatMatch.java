package io.bellows.reward;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;

/**
 * 1 when the response has the form of an RE2 regular expression, else 0; matched in time linear in the response.
 * Unscored without a response.
 */
final class FormatMatch implements RewardFunction {

    /** How much of the response the pattern must cover. */
    enum Coverage {
        FIND,
        FULL
    }

    private final Pattern pattern;
    private final Coverage coverage;

    /**
     * A check against a pattern.
     *
     * @throws IllegalArgumentException when RE2 cannot read it, as with back references and look-around
     */
    FormatMatch(String pattern, Coverage coverage) {
        try {
            this.pattern = Pattern.compile(pattern);
        } catch (PatternSyntaxException e) {
            throw new IllegalArgumentException(
                    "Invalid pattern '" + pattern + "': " + e.getMessage()
                            + "; RE2 syntax has no back references and no look-around",
                    e);
        }
        this.coverage = coverage;
    }

    @Override
    public RewardOutcome score(RewardInput input) {
        if (input.response() == null) {
            return RewardOutcome.unscored("no response");
        }
        boolean matches = coverage == Coverage.FULL
                ? pattern.matches(input.response())
                : pattern.matcher(input.response()).find();
        return RewardOutcome.of(matches ? 1 : 0);
    }
}
