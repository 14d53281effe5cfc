package io.bellows.benchmarks;

import io.bellows.env.EnvironmentFactory;
import io.bellows.env.MultiTurnEnv;
import io.bellows.env.State;
import io.bellows.text.Message;
import java.util.List;

/** An environment of four turns that takes some time for each of its answers, as a tool does. */
public final class FourTurns implements EnvironmentFactory {

    static final String NAME = "four_turns";
    static final int TURNS = 4;

    /** A system property, since the benchmark's only executor is its own JVM. */
    static final String ANSWER_MILLIS = "bellows.benchmarks.answer_ms";

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public MultiTurnEnv create() {
        return new Slow();
    }

    private static final class Slow extends MultiTurnEnv {
        Slow() {
            maxTurns(TURNS);
        }

        @Override
        protected List<Message> envResponse(State state) throws InterruptedException {
            Thread.sleep(Integer.getInteger(ANSWER_MILLIS));
            return List.of(Message.of("user", "go on"));
        }
    }
}
