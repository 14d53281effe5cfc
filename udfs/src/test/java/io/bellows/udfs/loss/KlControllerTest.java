package io.bellows.udfs.loss;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.bellows.udfs.Golden;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class KlControllerTest {

    static Stream<Golden.Case> reference() {
        Golden golden = Golden.of("verl_kl_value_misc");
        return Stream.concat(golden.cases("AdaptiveKLController"), golden.cases("FixedKLController"));
    }

    @ParameterizedTest
    @MethodSource("reference")
    void coefficientFollowsVerl(Golden.Case golden) {
        KlController controller = golden.has("horizon")
                ? new KlController.Adaptive(
                        golden.arg("init_kl_coef").asDouble(),
                        golden.arg("target_kl").asDouble(),
                        golden.arg("horizon").asDouble())
                : new KlController.Fixed(golden.arg("kl_coef").asDouble());
        int updates = 0;
        for (JsonNode update : golden.arg("updates")) {
            controller = controller.after(
                    update.get("current_kl").asDouble(), update.get("n_steps").asLong());
            Golden.assertClose(
                    controller.coefficient(),
                    golden.out("value_after_each_update").get(updates++).asDouble());
        }
        assertThat(updates)
                .isEqualTo(golden.out("value_after_each_update").size())
                .isPositive();
    }

    @Test
    void targetAndHorizonMustBePositive() {
        assertThatThrownBy(() -> new KlController.Adaptive(1, 0, 1))
                .hasMessage("Invalid target_kl 0.0: it must be above 0");
        assertThatThrownBy(() -> new KlController.Adaptive(1, 1, 0))
                .hasMessage("Invalid horizon 0.0: it must be above 0");
    }
}
