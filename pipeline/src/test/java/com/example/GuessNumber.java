package com.example;

import io.bellows.env.EnvironmentFactory;
import io.bellows.env.MultiTurnEnv;
import io.bellows.env.Reward;
import io.bellows.env.State;
import io.bellows.env.Stop;
import io.bellows.text.Message;
import java.util.List;

/** The model guesses a number below ten, and is told whether it is higher or lower. */
public final class GuessNumber implements EnvironmentFactory {

    @Override
    public String name() {
        return "guess_number";
    }

    @Override
    public MultiTurnEnv create() {
        return new Game();
    }

    static final class Game extends MultiTurnEnv {
        private int number;
        private boolean found;

        Game() {
            maxTurns(3);
        }

        @Override
        protected void setupState(State state) {
            number = Math.floorMod(state.exampleId().hashCode(), 10);
        }

        @Override
        protected List<Message> envResponse(State state) {
            state.addMetric("guesses", 1);
            int guess = firstDigit(state.lastStep().message().content());
            found = guess == number;
            return List.of(Message.of("user", guess < 0 ? "A digit!" : guess < number ? "Higher." : "Lower."));
        }

        @Stop
        boolean found() {
            return found;
        }

        @Reward
        double nearness(String response) {
            int guess = firstDigit(response);
            return guess < 0 ? 0 : 1 - Math.abs(guess - number) / 10.0;
        }

        private static int firstDigit(String text) {
            return text.chars()
                    .filter(Character::isDigit)
                    .map(Character::getNumericValue)
                    .findFirst()
                    .orElse(-1);
        }
    }
}
