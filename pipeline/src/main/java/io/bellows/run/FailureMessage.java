package io.bellows.run;

import java.io.FileNotFoundException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkThrowable;

/** What a person reads of a failure: what went wrong and what to do, in one line. */
public final class FailureMessage {

    private static final List<String> FOR_PEOPLE = List.of("Cannot ", "Invalid ", "Unsupported ");

    /** Spark ends a barrier stage with an exception that has no cause and quotes the task's stack trace instead. */
    private static final Pattern QUOTED =
            Pattern.compile("^(?:Caused by: )?[\\w.$]+: ((?:Cannot|Invalid|Unsupported) .*)$", Pattern.MULTILINE);

    private FailureMessage() {}

    /**
     * Returns the first message on the way to the cause that was written for people, else the cause itself.
     *
     * @param thrown the failure
     * @return its message
     */
    public static String of(Throwable thrown) {
        Throwable cause = thrown;
        for (Throwable t = thrown; t != null; t = t.getCause()) {
            String text = t.getMessage();
            if (text != null && FOR_PEOPLE.stream().anyMatch(text::startsWith)) {
                return text;
            }
            if (t instanceof SparkThrowable spark
                    && String.valueOf(spark.getCondition()).startsWith("FAILED_READ_FILE")) {
                return "Cannot read " + spark.getMessageParameters().get("path")
                        + ": it is damaged, or not there; see that"
                        + " the storage can be reached, and start again: tables are then compared with their checksums";
            }
            cause = t;
        }
        Matcher quoted = QUOTED.matcher(String.valueOf(cause.getMessage()));
        if (quoted.find()) {
            return quoted.group(1);
        }
        if (cause instanceof NoSuchFileException || cause instanceof FileNotFoundException) {
            return "Cannot find " + cause.getMessage();
        }
        if (cause instanceof FileAlreadyExistsException) {
            return "Cannot write " + cause.getMessage() + ": it exists";
        }
        return cause.toString().lines().findFirst().orElse("");
    }
}
