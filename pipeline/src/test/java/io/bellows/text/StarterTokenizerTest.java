package io.bellows.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** The tokenizer of the starter model: a token per byte, three special tokens, a plain ChatML template. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class StarterTokenizerTest {

    private ChatTokenizer chat;

    @BeforeAll
    void open() throws IOException {
        chat = ChatTokenizer.load(Path.of("..", "data-samples", "starter"), Map.of());
    }

    @AfterAll
    void close() {
        chat.close();
    }

    @Test
    void aTokenIsAByte() {
        String text = "12 + 30 = 42\n\t Grüße 世界 😀 \u0000\u007f it's";
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int[] expected = new int[bytes.length];
        for (int i = 0; i < bytes.length; i++) {
            expected[i] = Byte.toUnsignedInt(bytes[i]);
        }
        assertThat(chat.tokenizer().encode(text)).isEqualTo(expected);
        assertThat(chat.tokenizer().decode(expected, SpecialTokens.KEEP)).isEqualTo(text);
    }

    @Test
    void hasThreeSpecialTokensBehindTheBytes() {
        assertThat(chat.tokenizer().vocabSize()).isEqualTo(259);
        assertThat(chat.tokenizer().encode("<|endoftext|><|im_start|><|im_end|>"))
                .containsExactly(256, 257, 258);
        assertThat(chat.tokenizer().eosId()).hasValue(258);
        assertThat(chat.tokenizer().padId()).hasValue(256);
        assertThat(chat.tokenizer().stopIds()).containsExactly(256, 258);
    }

    @Test
    void writesChatMlAndNothingElse() {
        ChatPrompt prompt = chat.encode(
                List.of(Message.of("system", "Add."), Message.of("user", "1+2")), null, GenerationPrompt.ADD);
        assertThat(prompt.text())
                .isEqualTo(
                        "<|im_start|>system\nAdd.<|im_end|>\n<|im_start|>user\n1+2<|im_end|>\n<|im_start|>assistant\n");
        assertThat(prompt.ids()).startsWith(257, 's', 'y', 's').endsWith('n', 't', '\n');
        assertThat(chat.encode(List.of(), null, GenerationPrompt.NONE).ids()).isEmpty();
    }
}
