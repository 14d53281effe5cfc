package io.bellows.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class MetricLineTest {

    @Test
    void showsTheMetricsPeopleWatchUnderVerlsNamesAndLeavesTheRestToTheTable() {
        assertThat(MetricLine.of(
                        7,
                        Map.of(
                                "response_length/mean", 34.25,
                                "critic/rewards/mean", 0.53125,
                                "timing_s/gen", 12.0,
                                "some/other", 1.0)))
                .isEqualTo("step:7 - critic/rewards/mean:0.531 - response_length/mean:34.3 - timing_s/gen:12");
    }

    @Test
    void saysWhenSomethingWasNotMeasured() {
        assertThat(MetricLine.of(1, Map.of("actor/grad_norm", Double.NaN))).isEqualTo("step:1 - actor/grad_norm:n/a");
    }

    @Test
    void keepsSmallNumbersReadable() {
        assertThat(MetricLine.number(0.0000123)).isEqualTo("1.2e-05");
        assertThat(MetricLine.number(123456.7)).isEqualTo("123457");
    }
}
