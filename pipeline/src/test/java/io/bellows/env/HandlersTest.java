package io.bellows.env;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bellows.env.Handlers.Handler;
import org.junit.jupiter.api.Test;

@SuppressWarnings({"UnusedMethod", "UnusedVariable", "InfiniteRecursion"}) // handlers are found by their annotations
class HandlersTest {

    private static class Base {
        @Stop
        protected boolean zebra() {
            return false;
        }

        @Stop
        protected boolean apple() {
            return false;
        }

        @Stop(priority = 5)
        protected boolean urgentOne() {
            return false;
        }
    }

    private static class Overriding extends Base {
        @Override
        protected boolean apple() { // without an annotation: the condition stays
            return true;
        }

        @Override
        @Stop(priority = 9)
        protected boolean zebra() {
            return true;
        }

        @Override
        @Cleanup
        protected boolean urgentOne() { // another annotation replaces the inherited one
            return true;
        }
    }

    @Test
    void priorityDescendingThenNameDecidesTheOrder() {
        assertThat(Handlers.of(Base.class, Stop.class))
                .extracting(Handler::name)
                .containsExactly("urgent_one", "apple", "zebra");
    }

    @Test
    void anOverrideKeepsTheAnnotationUnlessItHasAnother() throws Exception {
        assertThat(Handlers.of(Overriding.class, Stop.class))
                .extracting(Handler::name)
                .containsExactly("zebra", "apple");
        assertThat(Handlers.of(Overriding.class, Cleanup.class))
                .extracting(Handler::name)
                .containsExactly("urgent_one");
        Handler apple = Handlers.of(Overriding.class, Stop.class).get(1);
        assertThat(apple.callWith(new Overriding(), null)).isEqualTo(true);
    }

    @Test
    void aStopConditionThatReturnsNoBooleanIsRefused() {
        class Wrong {
            @Stop
            protected int count() {
                return 1;
            }
        }
        assertThatThrownBy(() -> Handlers.of(Wrong.class, Stop.class)).hasMessageContaining("returns a boolean");
    }

    @Test
    void theBuiltInConditionsAreTheseInThisOrder() {
        assertThat(Handlers.of(SingleTurnEnv.class, Stop.class))
                .extracting(Handler::name)
                .containsExactly(
                        "has_error",
                        "timeout",
                        "has_final_env_response",
                        "stop",
                        "max_response_length",
                        "max_total_completion_tokens_reached",
                        "max_turns_reached",
                        "prompt_too_long");
    }
}
