package io.bellows.udfs.reward;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.io.Serializable;

/** 1 when the response has the form of an RE2 regular expression, else 0; matched in time linear in the response. */
public final class FormatMatch implements Serializable {

    private static final long serialVersionUID = 1L;

    /** How much of the response the pattern must cover. */
    public enum Coverage {
        /** Any part of it. */
        FIND,
        /** All of it. */
        FULL
    }

    private final Pattern pattern;
    private final Coverage coverage;

    /**
     * A check against a pattern.
     *
     * @throws IllegalArgumentException when RE2 cannot read it, as with back references and look-around
     */
    public FormatMatch(String pattern, Coverage coverage) {
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

    /**
     * Scores a response.
     *
     * @return 1 or 0
     */
    public double score(String response) {
        boolean matches = coverage == Coverage.FULL
                ? pattern.matches(response)
                : pattern.matcher(response).find();
        return matches ? 1 : 0;
    }
}
