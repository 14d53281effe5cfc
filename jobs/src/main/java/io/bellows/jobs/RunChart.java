package io.bellows.jobs;

import java.awt.Color;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.BitmapEncoder.BitmapFormat;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.Styler.LegendLayout;
import org.knowm.xchart.style.Styler.LegendPosition;
import org.knowm.xchart.style.Styler.YAxisPosition;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** The picture of a run: reward and accuracy on the left axis, response length on the right one, over iterations. */
final class RunChart {

    private RunChart() {}

    /**
     * Draws a PNG.
     *
     * @param metrics of every iteration, in order; {@code training/global_step} is its number
     * @throws IOException when the file cannot be written, or this Java cannot draw: no fonts, no font library
     */
    static void write(Path file, String title, List<Map<String, Double>> metrics) throws IOException {
        try {
            XYChart chart = draw(title, metrics);
            try (OutputStream out = Files.newOutputStream(file)) {
                BitmapEncoder.saveBitmap(chart, out, BitmapFormat.PNG);
            }
        } catch (RuntimeException | LinkageError e) {
            // AWT on a machine without fontconfig or freetype: InternalError, NoClassDefFoundError,
            // NullPointerException.
            throw new IOException(
                    "Cannot draw the chart " + file + ": install fonts, such as fontconfig and DejaVu", e);
        } catch (InternalError e) {
            throw new IOException(
                    "Cannot draw the chart " + file + ": install fonts, such as fontconfig and DejaVu", e);
        }
    }

    private static XYChart draw(String title, List<Map<String, Double>> metrics) {
        XYChart chart = new XYChartBuilder()
                .width(1000)
                .height(600)
                .title(title)
                .xAxisTitle("iteration")
                .build();
        chart.getStyler()
                .setLegendPosition(LegendPosition.OutsideS)
                .setLegendLayout(LegendLayout.Horizontal)
                .setChartBackgroundColor(Color.WHITE)
                .setPlotBorderVisible(false);
        chart.getStyler().setXAxisDecimalPattern("0");
        chart.setYAxisGroupTitle(
                0, metrics.stream().anyMatch(row -> row.containsKey("train/loss")) ? "loss" : "reward, accuracy");
        add(chart, "reward", metrics, row -> row.get("critic/rewards/mean"), new Color(0x1f77b4), 0);
        add(chart, "validation accuracy", metrics, RunChart::accuracy, new Color(0x2ca02c), 0);
        if (add(chart, "response length", metrics, row -> row.get("response_length/mean"), new Color(0xff7f0e), 1)) {
            chart.setYAxisGroupTitle(1, "response length, tokens");
            chart.getStyler().setYAxisGroupPosition(1, YAxisPosition.Right);
        }
        add(chart, "training loss", metrics, row -> row.get("train/loss"), new Color(0xd62728), 0);
        fixShares(chart);
        return chart;
    }

    /** Rewards and accuracies between 0 and 1 are drawn from 0 to 1, so that charts of two runs compare at a glance. */
    private static void fixShares(XYChart chart) {
        boolean shares = chart.getSeriesMap().values().stream()
                .filter(series -> series.getYAxisGroup() == 0)
                .allMatch(series -> series.getYMin() >= 0 && series.getYMax() <= 1);
        if (shares) {
            chart.getStyler().setYAxisMin(0, 0.0).setYAxisMax(0, 1.0);
        }
    }

    /** The greedy validation accuracy of an iteration, or null. */
    static Double accuracy(Map<String, Double> row) {
        return row.entrySet().stream()
                .filter(metric -> metric.getKey().startsWith("val-core/")
                        && metric.getKey().endsWith("/acc/mean@1"))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElse(null);
    }

    private static boolean add(
            XYChart chart,
            String name,
            List<Map<String, Double>> metrics,
            Function<Map<String, Double>, Double> value,
            Color color,
            int axis) {
        List<Double> x = new ArrayList<>();
        List<Double> y = new ArrayList<>();
        for (int i = 0; i < metrics.size(); i++) {
            Double measured = value.apply(metrics.get(i));
            if (measured != null && Double.isFinite(measured)) {
                x.add(metrics.get(i).getOrDefault("training/global_step", (double) i));
                y.add(measured);
            }
        }
        if (x.isEmpty()) {
            return false;
        }
        XYSeries series = chart.addSeries(name, x, y);
        series.setLineColor(color);
        series.setMarkerColor(color);
        series.setMarker(SeriesMarkers.CIRCLE);
        series.setYAxisGroup(axis);
        return true;
    }
}
