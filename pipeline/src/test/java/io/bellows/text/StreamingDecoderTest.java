package io.bellows.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class StreamingDecoderTest {

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
    void holdsACharacterBackUntilItIsComplete() {
        StreamingDecoder decoder = new StreamingDecoder(tokenizer, SpecialTokens.SKIP);
        List<String> pieces = new ArrayList<>();
        for (int id : new int[] {172, 253, 246, 222, 160, 121, 254}) {
            pieces.add(decoder.push(id));
        }
        assertThat(pieces).containsExactly("", "", "", "😀", "", "", "你");
        assertThat(decoder.flush()).isEmpty();
    }

    @Test
    void givesTheWholeTextInPieces() {
        String text = "Grüße, 世界! 😀👍🏽 — naïve <|im_end|> 12345 ".repeat(20);
        StreamingDecoder decoder = new StreamingDecoder(tokenizer, SpecialTokens.KEEP);
        StringBuilder all = new StringBuilder();
        for (int id : tokenizer.encode(text)) {
            String piece = decoder.push(id);
            assertThat(piece).doesNotContain("\ufffd");
            all.append(piece);
        }
        assertThat(all.append(decoder.flush()).toString()).isEqualTo(text);
    }

    @Test
    void piecesOfAnyIdsAreTheTextOfAllIds() {
        Random random = new Random(7);
        for (int round = 0; round < 50; round++) {
            int[] ids = random.ints(300, 0, tokenizer.vocabSize()).toArray();
            if (round % 2 == 0) {
                // Mostly bytes that never make a character.
                ids = random.ints(300, 94, 188).toArray();
            }
            StreamingDecoder decoder = new StreamingDecoder(tokenizer, SpecialTokens.SKIP);
            StringBuilder all = new StringBuilder();
            for (int id : ids) {
                all.append(decoder.push(id));
            }
            all.append(decoder.flush());
            assertThat(all.toString()).isEqualTo(tokenizer.decode(ids, SpecialTokens.SKIP));
        }
    }

    @Test
    void flushGivesWhatNeverBecameACharacter() {
        StreamingDecoder decoder = new StreamingDecoder(tokenizer, SpecialTokens.SKIP);
        assertThat(decoder.push(64)).isEqualTo("a");
        assertThat(decoder.push(172)).isEmpty();
        assertThat(decoder.flush()).isEqualTo("\ufffd");
    }
}
