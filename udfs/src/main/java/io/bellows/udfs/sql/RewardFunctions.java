package io.bellows.udfs.sql;

import io.bellows.udfs.reward.AnswerPlace;
import io.bellows.udfs.reward.ExactMatch;
import io.bellows.udfs.reward.FormatMatch;
import io.bellows.udfs.reward.InvalidReferenceException;
import io.bellows.udfs.reward.LengthPenalty;
import io.bellows.udfs.reward.MajorityMatch;
import io.bellows.udfs.reward.MathMatch;
import io.bellows.udfs.reward.NumberMatch;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.unsafe.types.UTF8String;

/** Scores of responses on Spark's values; {@link SqlFunctions} documents each. Public because Spark's generated code calls them. */
public final class RewardFunctions {

    private RewardFunctions() {}

    /** See {@link NumberMatch}; null where the reference answer is no number. */
    public static Double numberMatch(UTF8String response, UTF8String truth, UTF8String answer, double tolerance) {
        try {
            return new NumberMatch(place(answer), tolerance).score(response.toString(), List.of(truth.toString()));
        } catch (InvalidReferenceException e) {
            return null;
        }
    }

    /** See {@link ExactMatch}. */
    public static double exactMatch(UTF8String response, UTF8String truth, UTF8String answer, UTF8String letterCase) {
        ExactMatch match =
                new ExactMatch(place(answer), choice(ExactMatch.LetterCase.class, "letter_case", letterCase));
        return match.score(response.toString(), List.of(truth.toString()));
    }

    /** See {@link MathMatch}. */
    public static double mathMatch(UTF8String response, UTF8String truth, UTF8String answer) {
        return new MathMatch(place(answer)).score(response.toString(), List.of(truth.toString()));
    }

    /** See {@link MajorityMatch}. */
    public static ArrayData majorityMatch(ArrayData responses, UTF8String answer) {
        double[] scores = new MajorityMatch(place(answer)).scores(SqlArrays.texts(responses));
        return new GenericArrayData(Arrays.stream(scores)
                .mapToObj(score -> Double.isNaN(score) ? null : (Object) score)
                .toArray());
    }

    /** See {@link FormatMatch}. */
    public static double formatMatch(UTF8String response, UTF8String pattern, UTF8String coverage) {
        return new FormatMatch(pattern.toString(), choice(FormatMatch.Coverage.class, "coverage", coverage))
                .score(response.toString());
    }

    /** See {@link LengthPenalty}. */
    public static double lengthReward(int tokens, int maxLength, int buffer) {
        return new LengthPenalty(maxLength, buffer).score(tokens);
    }

    private static AnswerPlace place(UTF8String answer) {
        return choice(AnswerPlace.class, "answer", answer);
    }

    private static <E extends Enum<E>> E choice(Class<E> type, String name, UTF8String value) {
        return Arrays.stream(type.getEnumConstants())
                .filter(constant -> constant.name().toLowerCase(Locale.ROOT).equals(value.toString()))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("Invalid " + name + " '" + value + "': use one of "
                        + Arrays.toString(type.getEnumConstants()).toLowerCase(Locale.ROOT)));
    }
}
