package io.bellows.text;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Path;

/** Reference values, computed with transformers, tokenizers and jinja2. */
public final class Golden {

    private Golden() {}

    /** The folder of the tokenizer the values were computed with. */
    public static Path tokenizerFolder() {
        try {
            return Path.of(Golden.class.getResource("/golden/tokenizer").toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    public static JsonNode json(String name) {
        try (InputStream in = Golden.class.getResourceAsStream("/golden/" + name)) {
            return new JsonMapper().readTree(in);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static int[] ids(JsonNode array) {
        int[] ids = new int[array.size()];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = array.get(i).intValue();
        }
        return ids;
    }
}
