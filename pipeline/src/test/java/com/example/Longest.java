package com.example;

import io.bellows.env.EnvironmentFactory;
import io.bellows.env.GroupReward;
import io.bellows.env.MultiTurnEnv;
import io.bellows.env.SingleTurnEnv;
import io.bellows.env.State;
import java.util.List;

/** One turn; the longest of the responses to a prompt is the best. */
public final class Longest implements EnvironmentFactory {

    @Override
    public String name() {
        return "longest";
    }

    @Override
    public MultiTurnEnv create() {
        return new Compared();
    }

    @SuppressWarnings("UnusedMethod") // found by its annotation
    private static final class Compared extends SingleTurnEnv {
        @GroupReward
        List<Double> share(List<State> states) {
            double longest =
                    states.stream().mapToInt(State::completionTokens).max().orElse(1);
            return states.stream()
                    .map(state -> state.completionTokens() / longest)
                    .toList();
        }
    }
}
