package com.example;

import io.bellows.reward.RewardFactory;
import io.bellows.reward.RewardFunction;
import io.bellows.reward.RewardInput;
import io.bellows.reward.RewardOptions;
import io.bellows.reward.RewardOutcome;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Does what the response says, as model output can drive a careless reward function to. */
public final class Troublesome implements RewardFactory {

    /** Seconds that tell the process that spinning leaves behind from all others. */
    public static final String SLEEP = "1234.5";

    @Override
    public String name() {
        return "troublesome";
    }

    @Override
    public RewardFunction create(RewardOptions options) {
        double value = options.number("value", 1);
        return input -> score(input, value);
    }

    private static RewardOutcome score(RewardInput input, double value) {
        System.out.println("a word on standard output");
        switch (String.valueOf(input.response())) {
            case "spin" -> {
                sleepElsewhere();
                spin();
            }
            case "exit" -> System.exit(0);
            case "memory" -> fill();
            case "throw" -> throw new IllegalStateException("broken\nin two lines");
            case "forge" -> forge();
            case "environment" -> {
                return RewardOutcome.unscored(String.join(",", System.getenv().keySet()));
            }
            case "pass" -> {
                return RewardOutcome.unscored("no opinion");
            }
            default -> {
                return RewardOutcome.of(value
                        + input.prompt().size()
                        + input.extra().path("bonus").asInt());
            }
        }
        return RewardOutcome.of(0);
    }

    /** As a native library or a process with the same output would. */
    private static void forge() {
        new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8)
                .println("{\"status\":\"SCORED\",\"value\":99}\n42");
    }

    private static void sleepElsewhere() {
        try {
            new ProcessBuilder("sleep", SLEEP).start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void spin() {
        long turns = 0;
        while (turns >= 0) {
            turns = turns == Long.MAX_VALUE ? 0 : turns + 1;
        }
    }

    @SuppressWarnings("ModifiedButNotUsed") // it is there to be held
    private static void fill() {
        List<byte[]> all = new ArrayList<>();
        while (true) {
            all.add(new byte[1 << 20]);
        }
    }
}
