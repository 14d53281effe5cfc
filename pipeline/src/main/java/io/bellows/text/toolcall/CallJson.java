package io.bellows.text.toolcall;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.io.JsonEOFException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;

/** JSON objects inside a text: each ends where its JSON ends, whatever tags its strings hold. */
final class CallJson {

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
            .build();

    private CallJson() {}

    /**
     * An object and where it ends.
     *
     * @param value the object
     * @param end the index behind its closing brace
     */
    record Found(ObjectNode value, int end) {}

    /** Text that is no JSON object. */
    static final class NoObject extends Exception {

        private static final long serialVersionUID = 1L;

        private NoObject(String problem) {
            super(problem);
        }
    }

    /** The object that begins at {@code start}. */
    static Found object(String text, int start) throws NoObject {
        try (JsonParser parser = JSON.createParser(readerAt(text, start))) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                throw new NoObject("expected a JSON object");
            }
            ObjectNode value = JSON.readTree(parser);
            return new Found(value, start + (int) parser.currentLocation().getCharOffset());
        } catch (JsonEOFException e) {
            throw new NoObject("the JSON is not finished");
        } catch (JsonProcessingException e) {
            throw new NoObject("invalid JSON: " + e.getOriginalMessage());
        } catch (IOException e) {
            throw new UncheckedIOException("A string cannot fail to be read", e);
        }
    }

    /** A text read as a JSON value, or null when it is not one. */
    static JsonNode valueOrNull(String text) {
        try (JsonParser parser = JSON.createParser(text)) {
            JsonNode value = JSON.readTree(parser);
            return parser.nextToken() == null ? value : null;
        } catch (IOException e) {
            return null;
        }
    }

    static ObjectNode newObject() {
        return JSON.createObjectNode();
    }

    static int skipWhitespace(String text, int from) {
        int at = from;
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
        return at;
    }

    /**
     * Reports what {@code object} says: a call, or why it is none.
     *
     * @param from where the call begins
     * @param to where it ends
     * @param argumentsKeys the names that the arguments may have
     */
    static void report(int from, int to, Found object, CallSyntax.Calls calls, String... argumentsKeys) {
        JsonNode name = object.value().path("name");
        if (!name.isTextual() || name.textValue().isBlank()) {
            calls.addMalformed(from, to, "the call has no \"name\"");
            return;
        }
        for (String key : argumentsKeys) {
            JsonNode arguments = object.value().get(key);
            if (arguments != null && !arguments.isNull()) {
                calls.add(name.textValue(), arguments.isTextual() ? arguments.textValue() : arguments.toString());
                return;
            }
        }
        calls.add(name.textValue(), "{}");
    }

    private static StringReader readerAt(String text, int start) throws IOException {
        StringReader reader = new StringReader(text);
        long skipped = reader.skip(start);
        if (skipped != start) {
            throw new IndexOutOfBoundsException(start);
        }
        return reader;
    }
}
