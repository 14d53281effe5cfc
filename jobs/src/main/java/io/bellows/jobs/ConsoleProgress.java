package io.bellows.jobs;

import io.bellows.run.Progress;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import me.tongfei.progressbar.DelegatingProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/** Progress on a console: a bar per stage on a terminal, a line per stage elsewhere; then a line per iteration. */
final class ConsoleProgress implements Progress {

    private static final int BAR_WIDTH = 100;

    private final Console console;
    private final LongSupplier nanoClock;

    /** Progress whose rates and times come from {@code nanoClock}. */
    ConsoleProgress(Console console, LongSupplier nanoClock) {
        this.console = console;
        this.nanoClock = nanoClock;
    }

    @Override
    public void header(Map<String, String> facts) {
        int width = facts.keySet().stream().mapToInt(String::length).max().orElse(0);
        facts.forEach((name, fact) -> console.say(String.format("%-" + (width + 2) + "s%s", name, fact)));
    }

    @Override
    public Stage start(int iteration, String name, long total, String unit) {
        return console.terminal()
                ? new Bar(console.human(), iteration, name, total, unit)
                : new Line(iteration, name, total, unit);
    }

    @Override
    public void metrics(int iteration, Map<String, Double> metrics) {
        console.say(MetricLine.of(iteration, metrics));
    }

    @Override
    public void message(String line) {
        console.say(line);
    }

    private static String title(int iteration, String name) {
        return iteration > 0 ? String.format("%4d %-16s", iteration, name) : String.format("     %-16s", name);
    }

    /** A bar that disappears when the stage ends. */
    private static final class Bar implements Stage {
        private final ProgressBar bar;

        Bar(PrintWriter out, int iteration, String name, long total, String unit) {
            bar = new ProgressBarBuilder()
                    .setTaskName(title(iteration, name))
                    .setInitialMax(total)
                    .setUnit(" " + unit, 1)
                    .showSpeed()
                    .setStyle(ProgressBarStyle.COLORFUL_UNICODE_BLOCK)
                    .setUpdateIntervalMillis(250)
                    .setMaxRenderedLength(BAR_WIDTH)
                    .setConsumer(new DelegatingProgressBarConsumer(text -> overwrite(out, text), BAR_WIDTH))
                    .build();
            this.out = out;
        }

        private final PrintWriter out;

        private static void overwrite(PrintWriter out, String text) {
            out.print("\r" + text + "\u001b[K");
            out.flush();
        }

        @Override
        public void advance(long units) {
            bar.stepBy(units);
        }

        @Override
        public void close() {
            bar.close();
            overwrite(out, "");
        }
    }

    /** A line when the stage ends. */
    private final class Line implements Stage {
        private final String title;
        private final long total;
        private final String unit;
        private final long start = nanoClock.getAsLong();
        private final AtomicLong done = new AtomicLong();

        Line(int iteration, String name, long total, String unit) {
            this.title = title(iteration, name);
            this.total = total;
            this.unit = unit;
        }

        @Override
        public void advance(long units) {
            done.addAndGet(units);
        }

        @Override
        public void close() {
            double seconds = Duration.ofNanos(nanoClock.getAsLong() - start).toMillis() / 1000.0;
            long units = done.get();
            if (units < total) {
                console.say(String.format(
                        Locale.ROOT, "%s stopped after %.1f s at %d of %d %s", title, seconds, units, total, unit));
                return;
            }
            String rate = seconds > 0 ? String.format(Locale.ROOT, ", %.1f/s", units / seconds) : "";
            console.say(String.format(Locale.ROOT, "%s %d %s in %.1f s%s", title, units, unit, seconds, rate));
        }
    }
}
