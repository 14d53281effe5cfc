package io.bellows.udfs.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import org.junit.jupiter.api.Test;

class MetricsTest {

    @Test
    void partsAreMergedByTheirReduction() {
        Metrics first = Metrics.empty()
                .with("mean", Metric.mean(6, 2))
                .with("sum", Metric.sum(1))
                .with("min", Metric.min(3))
                .with("max", Metric.max(3));
        Metrics second = Metrics.empty()
                .with("max", Metric.max(7))
                .with("min", Metric.min(7))
                .with("sum", Metric.sum(2))
                .with("mean", Metric.mean(9, 1));

        assertThat(first.merge(second).values())
                .containsExactly(
                        java.util.Map.entry("mean", 5.0),
                        java.util.Map.entry("sum", 3.0),
                        java.util.Map.entry("min", 3.0),
                        java.util.Map.entry("max", 7.0));
    }

    /** verl reduces this one by its minimum, since its name contains "min". */
    @Test
    void reductionIsDeclaredAndNotReadOffTheName() {
        Metrics merged =
                Metrics.empty().with("env/terminal", Metric.mean(0, 1)).with("env/terminal", Metric.mean(1, 1));

        assertThat(merged.values()).containsEntry("env/terminal", 0.5);
    }

    @Test
    void meanOverNothingIsLeftOut() {
        Metrics metrics = Metrics.empty().with("a", Metric.mean(0, 0)).with("b", Metric.sum(0));

        assertThat(metrics.values()).containsOnlyKeys("b");
        assertThat(metrics.with("a", Metric.mean(4, 2)).values()).containsEntry("a", 2.0);
    }

    @Test
    void explainedVarianceOfPartsIsThatOfTheWhole() {
        ExplainedVariance whole = ExplainedVariance.empty()
                .with(1e6 + 1, 1e6)
                .with(1e6 + 2, 1e6 + 1)
                .with(1e6 + 4, 1e6 + 1);
        Metrics parts = Metrics.empty()
                .with("a", ExplainedVariance.empty().with(1e6 + 1, 1e6))
                .with("a", ExplainedVariance.empty())
                .with("a", ExplainedVariance.empty().with(1e6 + 2, 1e6 + 1).with(1e6 + 4, 1e6 + 1));

        // Var R = 7/3 and Var(R − V) = 4/3, whatever the offset.
        assertThat(whole.value()).isCloseTo(1 - 4 / 3.0 / (7 / 3.0 + 1e-5), within(1e-9));
        assertThat(parts.values().get("a")).isCloseTo(whole.value(), within(1e-9));
        assertThat(ExplainedVariance.empty().with(1, 1).hasValue()).isFalse();
        assertThatThrownBy(() -> parts.with("a", Metric.sum(1)))
                .hasMessage("Cannot merge a metric reduced by EXPLAINED_VARIANCE with one reduced by SUM: a");
        assertThatThrownBy(() -> Metric.sum(1).merge(whole))
                .hasMessage("Cannot merge a metric reduced by SUM with one reduced by EXPLAINED_VARIANCE");
    }

    @Test
    void differentReductionsOfOneNameAreRefused() {
        Metrics metrics = Metrics.empty().with("a", Metric.sum(1));

        assertThatThrownBy(() -> metrics.with("a", Metric.max(1)))
                .hasMessage("Cannot merge a metric reduced by SUM with one reduced by MAX: a");
    }

    @Test
    void metricsTravelBetweenProcesses() throws Exception {
        Metrics metrics = Metrics.empty().with("a", Metric.mean(3, 2));
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(metrics);
        }

        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            assertThat(((Metrics) in.readObject()).values()).isEqualTo(metrics.values());
        }
    }
}
