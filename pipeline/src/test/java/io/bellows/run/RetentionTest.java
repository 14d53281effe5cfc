package io.bellows.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import org.junit.jupiter.api.Test;

class RetentionTest {

    @Test
    void keepsTheLatestAndEverySoManyth() {
        assertThat(new Retention(2, 5).expired(List.of(1, 4, 5, 9, 10, 11, 12), 12))
                .containsExactly(1, 4, 9);
    }

    @Test
    void withoutAFrequencyOnlyTheLatestStay() {
        assertThat(new Retention(2, -1).expired(List.of(5, 10, 11, 12), 12)).containsExactly(5, 10);
    }

    @Test
    void keepingNoneIsRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> new Retention(0, -1));
    }
}
