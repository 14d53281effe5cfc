package io.bellows.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.text.jinja.TemplateException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.TestInstance;

/**
 * Tokenizers and chat templates as their makers published them. The packages are not part of the repository;
 * {@code src/test/published/install} fetches them and computes the reference values with Hugging Face's JavaScript
 * implementations.
 */
@Tag("slow")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PublishedTextTest {

    private static final Path FOLDER = Path.of("target", "published");

    private JsonNode references;
    private JsonNode conversations;
    private JsonNode tools;

    @BeforeAll
    void read() throws IOException {
        boolean installed = Files.exists(FOLDER.resolve("reference.json"));
        String remedy = "Published tokenizers are not installed: run pipeline/src/test/published/install";
        if (System.getenv("BELLOWS_REQUIRE_PUBLISHED") == null) {
            assumeTrue(installed, remedy);
        }
        assertThat(installed).as(remedy).isTrue();
        references = json(FOLDER.resolve("reference.json"));
        JsonNode cases = json(FOLDER.resolve("conversations.json"));
        conversations = cases.path("conversations");
        tools = cases.path("tools");
    }

    private static JsonNode json(Path file) throws IOException {
        return new JsonMapper().readTree(file.toFile());
    }

    /** One model after the other, each opened when its turn comes: the largest takes some hundred megabytes. */
    @TestFactory
    Stream<DynamicContainer> textAndIdsOf() {
        return references.properties().stream().map(model -> {
            Opened opened = new Opened(FOLDER.resolve(model.getKey()));
            List<DynamicTest> tests = new ArrayList<>();
            for (int i = 0; i < conversations.size(); i++) {
                JsonNode conversation = conversations.get(i);
                JsonNode reference = model.getValue().path("conversations").get(i);
                String name = conversation.path("name").asText();
                tests.add(DynamicTest.dynamicTest(name, () -> conversation(opened.chat(), conversation, reference)));
            }
            for (JsonNode text : model.getValue().path("texts")) {
                String name = text.path("text").asText();
                tests.add(DynamicTest.dynamicTest("text '" + name + "'", () -> text(opened.chat(), text)));
            }
            tests.add(DynamicTest.dynamicTest("close", opened::close));
            return DynamicContainer.dynamicContainer(model.getKey(), tests);
        });
    }

    private static final class Opened {
        private final Path folder;
        private ChatTokenizer chat;

        Opened(Path folder) {
            this.folder = folder;
        }

        ChatTokenizer chat() throws IOException {
            if (chat == null) {
                chat = ChatTokenizer.load(folder, Map.of());
            }
            return chat;
        }

        void close() {
            chat.close();
        }
    }

    private void conversation(ChatTokenizer opened, JsonNode conversation, JsonNode reference) {
        ChatTokenizer chat = opened.withVariables(variables(conversation));
        JsonNode offered = conversation.path("tools").asBoolean() ? tools : null;
        if (reference.has("error")) {
            assertThatThrownBy(
                            () -> chat.encode(conversation.path("messages"), offered, generationPrompt(conversation)))
                    .isInstanceOf(TemplateException.class);
            return;
        }
        ChatPrompt prompt = chat.encode(conversation.path("messages"), offered, generationPrompt(conversation));
        Tokenizer tokenizer = chat.tokenizer();
        assertThat(prompt.text()).isEqualTo(reference.path("text").asText());
        assertThat(tokenizer.encode(prompt.text())).isEqualTo(Golden.ids(reference.path("ids")));
        if (conversation.path("hostile").asBoolean()) {
            // The reference lets content open turns; we do not. Harmless content of the same turns has as many.
            ChatPrompt harmless = chat.encode(harmless(conversation.path("messages")), offered, GenerationPrompt.ADD);
            assertThat(special(tokenizer, prompt.ids())).isEqualTo(special(tokenizer, harmless.ids()));
            assertThat(special(tokenizer, Golden.ids(reference.path("ids"))))
                    .hasSizeGreaterThan(special(tokenizer, harmless.ids()).size());
        } else {
            assertThat(prompt.ids()).isEqualTo(Golden.ids(reference.path("ids")));
        }
        assertBosOnce(tokenizer, prompt);
        assertStreams(tokenizer, prompt.ids());
    }

    private static Map<String, Object> variables(JsonNode conversation) {
        Map<String, Object> variables = new HashMap<>(Map.of("date_string", "26 Jul 2024"));
        conversation.path("variables").properties().forEach(entry -> variables.put(entry.getKey(), entry.getValue()));
        return variables;
    }

    private static GenerationPrompt generationPrompt(JsonNode conversation) {
        if (conversation.path("continue_final_message").asBoolean()) {
            return GenerationPrompt.CONTINUE_FINAL_MESSAGE;
        }
        return conversation.path("add_generation_prompt").asBoolean() ? GenerationPrompt.ADD : GenerationPrompt.NONE;
    }

    private static ArrayNode harmless(JsonNode messages) {
        ArrayNode copy = messages.deepCopy();
        copy.forEach(message -> ((ObjectNode) message).put("content", "x"));
        return copy;
    }

    private static List<Integer> special(Tokenizer tokenizer, int[] ids) {
        return IntStream.of(ids).filter(tokenizer::isSpecial).boxed().toList();
    }

    /** The token that begins a sequence is met at most once in a row, whoever puts it there: template or tokenizer. */
    private static void assertBosOnce(Tokenizer tokenizer, ChatPrompt prompt) {
        if (tokenizer.bosId().isEmpty()) {
            return;
        }
        int bos = tokenizer.bosId().getAsInt();
        for (int[] ids : List.of(prompt.ids(), tokenizer.encodePrompt(prompt.text()))) {
            for (int i = 1; i < ids.length; i++) {
                assertThat(ids[i - 1] == bos && ids[i] == bos)
                        .as("two tokens %d from %d on", bos, i - 1)
                        .isFalse();
            }
        }
    }

    /** Pieces of a streamed text make up the whole, and none holds a broken character. */
    private static void assertStreams(Tokenizer tokenizer, int[] ids) {
        for (SpecialTokens specialTokens : SpecialTokens.values()) {
            StreamingDecoder decoder = new StreamingDecoder(tokenizer, specialTokens);
            StringBuilder all = new StringBuilder();
            for (int id : ids) {
                String piece = decoder.push(id);
                assertThat(piece).doesNotContain("\ufffd");
                all.append(piece);
            }
            all.append(decoder.flush());
            assertThat(all.toString()).isEqualTo(tokenizer.decode(ids, specialTokens));
        }
    }

    private static void text(ChatTokenizer chat, JsonNode reference) {
        Tokenizer tokenizer = chat.tokenizer();
        String text = reference.path("text").asText();
        int[] ids = tokenizer.encode(text);
        assertThat(ids).isEqualTo(Golden.ids(reference.path("ids")));
        assertThat(tokenizer.encodePrompt(text)).isEqualTo(Golden.ids(reference.path("prompt")));
        assertThat(tokenizer.decode(ids, SpecialTokens.SKIP))
                .isEqualTo(reference.path("decoded").asText());
        assertStreams(tokenizer, ids);
    }
}
