package io.bellows.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TokenizerTest {

    private static final int START = 1022;
    private static final int END = 1023;

    private Tokenizer tokenizer;

    @BeforeAll
    void open() throws IOException {
        tokenizer = Tokenizer.load(Golden.tokenizerFolder());
    }

    @AfterAll
    void close() {
        tokenizer.close();
    }

    @Test
    void encodesAndDecodesAsTheReferenceDoes() {
        for (JsonNode example : Golden.json("tokenizer_goldens.json").path("encode")) {
            String text = example.path("text").asText();
            int[] ids = Golden.ids(example.path("ids"));
            assertThat(tokenizer.encode(text)).as(text).isEqualTo(ids);
            assertThat(tokenizer.decode(ids, SpecialTokens.KEEP))
                    .isEqualTo(example.path("decoded").asText());
            assertThat(tokenizer.decode(ids, SpecialTokens.SKIP))
                    .isEqualTo(example.path("decoded_skip_special").asText());
        }
    }

    @Test
    void decodesPartsOfCharactersAsTheReferenceDoes() {
        for (JsonNode example : Golden.json("tokenizer_goldens.json").path("partial_decode")) {
            assertThat(tokenizer.decode(Golden.ids(example.path("ids")), SpecialTokens.KEEP))
                    .isEqualTo(example.path("decoded").asText());
        }
    }

    @Test
    void encodesContentWithoutSpecialTokensAsEver() {
        for (JsonNode example : Golden.json("tokenizer_goldens.json").path("encode")) {
            String text = example.path("text").asText();
            int[] ids = tokenizer.encodeContent(text);
            if (example.path("decoded").equals(example.path("decoded_skip_special"))) {
                assertThat(ids).as(text).isEqualTo(Golden.ids(example.path("ids")));
            } else {
                assertThat(ids).as(text).doesNotContain(1021, START, END);
                assertThat(tokenizer.decode(ids, SpecialTokens.SKIP)).isEqualTo(text);
            }
        }
    }

    @Test
    void knowsItsSpecialTokens() {
        assertThat(tokenizer.eosId()).hasValue(END);
        assertThat(tokenizer.padId()).hasValue(1021);
        assertThat(tokenizer.bosId()).isEmpty();
        assertThat(tokenizer.idOf("<|im_start|>")).hasValue(START);
        assertThat(tokenizer.idOf("no such token")).isEmpty();
        assertThat(tokenizer.vocabSize()).isEqualTo(1024);
        assertThat(tokenizer.isSpecial(END)).isTrue();
        assertThat(tokenizer.isSpecial(0)).isFalse();
        assertThat(tokenizer.stopIds()).containsExactly(END);
    }

    @Test
    void takesTokensAsTheConfigurationMayWriteThem(@TempDir Path folder) throws IOException {
        Files.copy(Golden.tokenizerFolder().resolve("tokenizer.json"), folder.resolve("tokenizer.json"));
        Files.writeString(folder.resolve("tokenizer_config.json"), """
                {"bos_token": {"content": "<|im_start|>", "special": true}, "pad_token": null, "add_bos_token": true,
                 "eos_token": "<|im_end|>", "additional_special_tokens": null,
                 "added_tokens_decoder": {"64": {"content": "a", "special": true}, "1023": null}}
                """);
        try (Tokenizer odd = Tokenizer.load(folder)) {
            assertThat(odd.bosId()).hasValue(START);
            assertThat(odd.padId()).isEmpty();
            assertThat(odd.namedTokens()).containsOnlyKeys("bos_token", "eos_token");
            assertThat(odd.encodePrompt("a")).containsExactly(START, 64);
            assertThat(odd.encodePrompt("<|im_start|>a")).containsExactly(START, 64);
            assertThat(odd.encodePrompt("")).containsExactly(START);
        }
        assertThat(tokenizer.encodePrompt("a")).containsExactly(64);
    }

    @Test
    void neitherTruncatesNorPadsLongText() {
        String text = "1".repeat(20_000);
        assertThat(tokenizer.encode(text)).hasSize(20_000);
    }

    @Test
    void takesHalfASurrogatePair() {
        assertThat(tokenizer.decode(tokenizer.encode("a\ud83db"), SpecialTokens.KEEP))
                .isEqualTo("a\ufffdb");
    }

    @Test
    void idsBeyondTheVocabularyHaveNoText() {
        assertThat(tokenizer.decode(new int[] {64, 5000}, SpecialTokens.KEEP)).isEqualTo("a");
        assertThatThrownBy(() -> tokenizer.decode(new int[] {-1}, SpecialTokens.KEEP))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Invalid token id -1: ids are not negative");
    }

    @Test
    void servesSeveralThreads() {
        String text = "Hello world, 12345 + 678. ".repeat(50);
        int[] expected = tokenizer.encode(text);
        assertThat(IntStream.range(0, 200).parallel().mapToObj(i -> tokenizer.encode(text)))
                .allSatisfy(ids -> assertThat(ids).isEqualTo(expected));
    }

    @Test
    void namesTheMissingAndTheDamagedFile(@TempDir Path folder) throws IOException {
        assertThatThrownBy(() -> Tokenizer.load(folder))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("Cannot find " + folder.resolve("tokenizer.json"));
        Files.writeString(folder.resolve("tokenizer.json"), "{\"model\": {");
        assertThatThrownBy(() -> Tokenizer.load(folder))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("Invalid JSON in " + folder.resolve("tokenizer.json"));
        Files.writeString(folder.resolve("tokenizer.json"), "{\"model\": {\"type\": \"BPE\"}}");
        assertThatThrownBy(() -> Tokenizer.load(folder))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("Invalid tokenizer " + folder.resolve("tokenizer.json"));
    }

    private static Path copy(Path folder, UnaryOperator<ObjectNode> change) throws IOException {
        Files.createDirectories(folder);
        JsonMapper json = new JsonMapper();
        ObjectNode original = (ObjectNode)
                json.readTree(Golden.tokenizerFolder().resolve("tokenizer.json").toFile());
        json.writerWithDefaultPrettyPrinter()
                .writeValue(folder.resolve("tokenizer.json").toFile(), change.apply(original));
        return folder;
    }

    @Test
    void whetherIdsMeanTheSameIsSeenInWhatIsEncodedAndNotInFiles(@TempDir Path folder) throws IOException {
        Path known = Golden.tokenizerFolder();
        Path rewritten = copy(folder.resolve("rewritten"), same -> same);
        assertThat(rewritten.resolve("tokenizer.json"))
                .content()
                .isNotEqualTo(Files.readString(known.resolve("tokenizer.json")));
        assertThat(Tokenizer.readsIdsOf(rewritten, known)).isTrue();

        Path larger = copy(folder.resolve("larger"), json -> {
            ObjectNode added = (ObjectNode) json.path("added_tokens").get(0).deepCopy();
            ((ArrayNode) json.path("added_tokens"))
                    .add(added.put("content", "<|score|>").put("id", 1024));
            return json;
        });
        assertThat(Tokenizer.readsIdsOf(larger, known)).isTrue();
        assertThat(Tokenizer.readsIdsOf(known, larger)).isFalse();

        Path otherwise = copy(folder.resolve("otherwise"), json -> {
            ((ArrayNode) json.path("model").path("merges")).remove(0);
            return json;
        });
        assertThat(Tokenizer.readsIdsOf(otherwise, known))
                .as("the same names of ids, other ids of texts")
                .isFalse();
    }
}
