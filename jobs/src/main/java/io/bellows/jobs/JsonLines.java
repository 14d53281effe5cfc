package io.bellows.jobs;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** JSON Lines in: one object a line, empty lines passed over. */
final class JsonLines implements AutoCloseable {

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private final String name;
    private final BufferedReader reader;
    private int line;
    private String text;

    private JsonLines(String name, BufferedReader reader) {
        this.name = name;
        this.reader = reader;
    }

    /** Opens a file, or standard input for {@code -}. */
    static JsonLines open(Path file) throws IOException {
        if (file.toString().equals("-")) {
            return new JsonLines("standard input", bytes(System.in));
        }
        if (!Files.isRegularFile(file)) {
            throw new UsageException(
                    "Cannot read " + file + ": no such file; give JSON lines, or - for standard input");
        }
        return new JsonLines(file.toString(), bytes(Files.newInputStream(file)));
    }

    /** A byte a character: a line that is no UTF-8 is the error of that line, not the end of all. */
    private static BufferedReader bytes(InputStream in) {
        return new BufferedReader(new InputStreamReader(in, StandardCharsets.ISO_8859_1));
    }

    /** Moves to the next line that is not blank; false at the end. */
    boolean next() throws IOException {
        do {
            text = reader.readLine();
            line++;
        } while (text != null && text.isBlank());
        return text != null;
    }

    /**
     * The object of the current line.
     *
     * @throws IllegalArgumentException when the line is no JSON object
     */
    ObjectNode object() {
        JsonNode node;
        try {
            byte[] utf8 = text.getBytes(StandardCharsets.ISO_8859_1);
            node = JSON.readTree(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(utf8))
                    .toString());
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException("Invalid line: it is not UTF-8", e);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("Invalid JSON: " + e.getOriginalMessage(), e);
        }
        if (node instanceof ObjectNode object) {
            return object;
        }
        throw new IllegalArgumentException("Invalid line: expected a JSON object");
    }

    /** File and number of the current line. */
    String place() {
        return name + ", line " + line;
    }

    @Override
    public void close() throws IOException {
        reader.close();
    }
}
