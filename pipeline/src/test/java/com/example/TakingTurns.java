package com.example;

import io.bellows.env.EnvironmentFactory;
import io.bellows.env.GroupReward;
import io.bellows.env.MultiTurnEnv;
import io.bellows.env.Reward;
import io.bellows.env.SingleTurnEnv;
import io.bellows.env.State;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** The reward of a prompt's last sample waits for the next prompt to begin, while the other samples wait to be compared with it. */
public final class TakingTurns implements EnvironmentFactory {

    /** Prompts that a test rolls out, named by their example ids {@code file:0} and so on. */
    public static final int PROMPTS = 3;

    /** Samples of each. */
    public static final int SAMPLES = 4;

    private final Map<String, CountDownLatch> begun = new ConcurrentHashMap<>();

    @Override
    public String name() {
        return "taking_turns";
    }

    @Override
    public MultiTurnEnv create() {
        return new Turn();
    }

    private CountDownLatch begun(int prompt) {
        return begun.computeIfAbsent("file:" + prompt, name -> new CountDownLatch(1));
    }

    @SuppressWarnings("UnusedMethod") // found by their annotations
    private final class Turn extends SingleTurnEnv {
        @Override
        protected void setupState(State state) {
            begun(prompt(state)).countDown();
        }

        @Reward
        double patience(State state) throws InterruptedException {
            int prompt = prompt(state);
            boolean waits = state.id().sampleIndex() == SAMPLES - 1 && prompt < PROMPTS - 1;
            return !waits || begun(prompt + 1).await(20, TimeUnit.SECONDS) ? 1 : 0;
        }

        private static int prompt(State state) {
            return Integer.parseInt(state.exampleId().substring("file:".length()));
        }

        @GroupReward
        List<Double> same(List<State> states) {
            return Collections.nCopies(states.size(), 1.0);
        }
    }
}
