package io.bellows.client;

import java.net.http.HttpHeaders;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;

/** The header {@code Retry-After}: seconds, or a date (RFC 9110, section 10.2.3). */
final class RetryAfter {

    private static final Duration LONGEST = Duration.ofHours(1);

    private RetryAfter() {}

    /** How long the server asks to be left alone, at most an hour; null where it does not say, or not so that it can be read. */
    static Duration of(HttpHeaders headers, Instant now) {
        String value = headers.firstValue("Retry-After").orElse("").strip();
        if (value.matches("[0-9]{1,9}")) {
            return bounded(Duration.ofSeconds(Long.parseLong(value)));
        }
        try {
            Instant date = ZonedDateTime.parse(value, DateTimeFormatter.RFC_1123_DATE_TIME)
                    .toInstant();
            return bounded(Duration.between(now, date));
        } catch (DateTimeParseException e) {
            return null;
        }
    }

    private static Duration bounded(Duration asked) {
        return asked.isNegative() ? Duration.ZERO : asked.compareTo(LONGEST) > 0 ? LONGEST : asked;
    }
}
