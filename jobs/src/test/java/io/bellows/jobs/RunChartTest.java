package io.bellows.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunChartTest {

    private static final List<Map<String, Double>> METRICS = List.of(
            Map.of("critic/rewards/mean", 0.2, "response_length/mean", 10.0),
            Map.of(
                    "critic/rewards/mean", Double.NaN,
                    "response_length/mean", 20.0,
                    "val-core/sums/acc/mean@1", 0.4));

    @Test
    void drawsRewardAccuracyAndLengthThoughSomeWereNotMeasured(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("chart.png");

        RunChart.write(file, "a run", METRICS);

        BufferedImage image = ImageIO.read(file.toFile());
        assertThat(image.getWidth()).isEqualTo(1000);
    }

    @Test
    void aChartThatCannotBeWrittenIsAnErrorToBeReportedNotACrash(@TempDir Path folder) {
        assertThatThrownBy(() -> RunChart.write(folder.resolve("none/chart.png"), "a run", METRICS))
                .isInstanceOf(IOException.class);
    }
}
