package io.bellows.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.bellows.udfs.loss.PolicyLosses;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PolicyLossConfigTest {

    @Test
    void everyLossOfTheRegistryCanBeConfigured() {
        Setting setting = Arrays.stream(PolicyLossConfig.class.getRecordComponents())
                .filter(component -> component.getName().equals("lossMode"))
                .findFirst()
                .orElseThrow()
                .getAnnotation(Setting.class);

        assertThat(setting.oneOf()).containsExactlyElementsOf(PolicyLosses.names());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"vanilla", "gspo", "sapo", "gpg", "clip_cov", "kl_cov", "geo_mean", "cispo", "dppo_tv", "dppo_kl"
            })
    void defaultsSufficeForAllButDro(String mode) {
        assertThat(errors("actor.policy_loss.loss_mode=" + mode)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "actor.policy_loss.loss_mode=dro | Invalid actor.policy_loss.dro_beta = null:"
                        + " actor.policy_loss.loss_mode = dro needs it; set a number above 0, such as 0.1",
                "actor.policy_loss.dro_beta=0.1 | Invalid actor.policy_loss.dro_beta = 0.1: only"
                        + " actor.policy_loss.loss_mode = dro uses it; remove it or set that mode",
                "actor.policy_loss.loss_mode=dro actor.policy_loss.dro_beta=0 | Invalid actor.policy_loss.loss_mode ="
                        + " dro: Invalid dro_beta 0.0: it must be above 0",
                "actor.policy_loss.loss_mode=sapo actor.tau_neg=-1 | Invalid actor.policy_loss.loss_mode = sapo:"
                        + " Invalid tau_neg -1.0: it must be above 0",
                "actor.policy_loss.loss_mode=clip_cov actor.policy_loss.clip_cov_lb=6 | Invalid"
                        + " actor.policy_loss.loss_mode = clip_cov: Invalid clip_cov_ub 5.0: it must be above clip_cov_lb,"
                        + " which is 6.0",
                "actor.policy_loss.loss_mode=ppo | Invalid actor.policy_loss.loss_mode = 'ppo': use one of vanilla,"
                        + " gspo, sapo, gpg, clip_cov, kl_cov, geo_mean, cispo, dppo_tv, dppo_kl, dro",
                "actor.policy_loss.clip_cov_ratios=1 | Invalid key actor.policy_loss.clip_cov_ratios: there is no such"
                        + " key; did you mean actor.policy_loss.clip_cov_ratio?"
            })
    void whatALossCannotUseIsAnError(String settings, String error) {
        assertThat(errors(settings.split(" "))).containsExactly(error);
    }

    /** The errors about the loss: without files and model there are others. */
    private static List<String> errors(String... settings) {
        return assertThatExceptionOfType(InvalidConfigException.class)
                .isThrownBy(() -> BellowsConfig.load(null, List.of(settings)))
                .actual()
                .errors()
                .stream()
                .filter(error -> error.contains("actor.policy_loss"))
                .toList();
    }
}
