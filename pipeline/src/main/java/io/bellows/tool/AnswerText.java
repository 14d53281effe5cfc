package io.bellows.tool;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToIntFunction;

/** From what a tool returned to a text that a model can be given: clean Unicode, of a limited number of tokens. */
final class AnswerText {

    private static final JsonMapper JSON = JsonMapper.builder()
            .disable(SerializationFeature.FAIL_ON_EMPTY_BEANS)
            .build();

    /** Tokens are shorter than this on average in any text, so longer texts need not be counted to be shortened. */
    private static final int MOST_CHARACTERS_PER_TOKEN = 64;

    private static final String CUT = "...(truncated)...";

    private final ToolLimits limits;
    private final ToIntFunction<String> countTokens;

    AnswerText(ToolLimits limits, ToIntFunction<String> countTokens) {
        this.limits = limits;
        this.countTokens = countTokens;
    }

    /**
     * A text within the limit.
     *
     * @param text the text
     * @param truncated whether it was longer
     */
    record Fitted(String text, boolean truncated) {}

    /** What was returned, as a response. */
    static ToolResponse response(Object returned) throws JsonProcessingException {
        Object value = returned instanceof Optional<?> optional ? optional.orElse(null) : returned;
        if (value instanceof ToolResponse response) {
            return checked(response);
        } else if (value == null) {
            return ToolResponse.of("");
        } else if (value instanceof byte[] bytes) {
            return ToolResponse.of(new String(bytes, StandardCharsets.UTF_8));
        } else if (value instanceof Map
                || value instanceof Collection
                || value instanceof JsonNode
                || value instanceof Record
                || value instanceof Object[]) {
            return ToolResponse.of(JSON.writeValueAsString(value));
        }
        return ToolResponse.of(String.valueOf(value.toString()));
    }

    /** A text without half characters, shortened where it has too many tokens. */
    Fitted fit(String text) {
        int most = limits.maxResponseTokens();
        long characters = (long) most * MOST_CHARACTERS_PER_TOKEN;
        boolean surelyTooLong = text.length() > characters;
        if (!surelyTooLong) {
            String clean = clean(text);
            if (countTokens.applyAsInt(clean) <= most) {
                return new Fitted(clean, false);
            }
        }
        int low = 0;
        int high = (int) Math.min(text.length(), characters);
        String best = clean(cut(text, 0));
        while (low < high) {
            int kept = (int) (((long) low + high + 1) / 2);
            String candidate = clean(cut(text, kept));
            if (countTokens.applyAsInt(candidate) <= most) {
                best = candidate;
                low = kept;
            } else {
                high = kept - 1;
            }
        }
        return new Fitted(best, true);
    }

    private String cut(String text, int kept) {
        return switch (limits.truncation()) {
            case LEFT -> CUT + tail(text, kept);
            case RIGHT -> head(text, kept) + CUT;
            case MIDDLE -> head(text, kept - kept / 2) + CUT + tail(text, kept / 2);
        };
    }

    private static String head(String text, int length) {
        boolean splits = length > 0 && length < text.length() && Character.isHighSurrogate(text.charAt(length - 1));
        return text.substring(0, splits ? length - 1 : length);
    }

    private static String tail(String text, int length) {
        int from = text.length() - length;
        boolean splits = from > 0 && length > 0 && Character.isLowSurrogate(text.charAt(from));
        return text.substring(splits ? from + 1 : from);
    }

    /** Half a surrogate pair has no UTF-8 form, and neither tokenizer nor table takes it. */
    private static String clean(String text) {
        return new String(text.getBytes(StandardCharsets.UTF_16LE), StandardCharsets.UTF_16LE);
    }

    private static ToolResponse checked(ToolResponse response) {
        Map<String, Double> numbers = new HashMap<>(response.metrics());
        if (response.reward() != null) {
            numbers.put("reward", response.reward());
        }
        numbers.forEach((name, value) -> {
            if (!Double.isFinite(value)) {
                throw new IllegalStateException(
                        "Invalid " + name + " " + value + " of a tool: expected a finite number, or none");
            }
        });
        return response;
    }
}
