package io.bellows.env;

import io.bellows.text.Message;
import java.util.List;

/** The model answers once. */
public class SingleTurnEnv extends MultiTurnEnv {

    /** An environment for one trajectory. */
    public SingleTurnEnv() {
        maxTurns(1);
    }

    /** The model has ended its answer. */
    @Stop
    protected boolean stop(State state) {
        return state.lastStep() != null && !state.lastStep().isTruncated();
    }

    @Override
    protected final List<Message> envResponse(State state) {
        throw new IllegalStateException("Cannot answer in a single-turn environment: the trajectory has ended");
    }
}
