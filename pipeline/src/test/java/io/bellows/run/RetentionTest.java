package io.bellows.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.bellows.config.BellowsConfig;
import io.bellows.config.TrainerConfig;
import java.util.List;
import java.util.Map;
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
    void ofBlocksOfTheSaveFrequencyAllStay() {
        TrainerConfig every50 = BellowsConfig.fromResolved(Json.MAPPER.valueToTree(
                        Map.of("trainer", Map.of("save_freq", 50, "max_actor_ckpt_to_keep", 1))))
                .trainer();

        assertThat(Retention.byBlock(every50).expired(List.of(1, 2, 3), 3)).isEmpty();
        assertThat(Retention.byIteration(every50).expired(List.of(49, 50, 51), 51))
                .containsExactly(49);
    }

    @Test
    void keepingNoneIsRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> new Retention(0, -1));
    }
}
