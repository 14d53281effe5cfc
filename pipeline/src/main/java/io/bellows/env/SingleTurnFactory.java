package io.bellows.env;

/** Makes {@link SingleTurnEnv}. */
final class SingleTurnFactory implements EnvironmentFactory {

    static final String NAME = "single_turn";

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public MultiTurnEnv create() {
        return new SingleTurnEnv();
    }
}
