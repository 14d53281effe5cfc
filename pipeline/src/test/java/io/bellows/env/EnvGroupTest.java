package io.bellows.env;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** One environment of several. */
@SuppressWarnings("UnusedMethod") // handlers are found by their annotations
class EnvGroupTest extends EnvironmentTest {

    /** Says that it is the one. */
    private static final class Part implements EnvironmentFactory {
        private final String name;
        private boolean open;
        private boolean tornDown;

        Part(String name) {
            this.name = name;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public void open(EnvironmentSettings settings) {
            open = true;
        }

        @Override
        public MultiTurnEnv create() {
            return new SingleTurnEnv() {
                @Override
                protected void setupState(State state) {
                    state.put("part", name);
                    state.addMetric(name + "_seen", 1);
                }
            };
        }

        @Teardown
        void tearDown() {
            tornDown = true;
            throw new IllegalStateException(name + " does not close");
        }
    }

    private static final class Group extends EnvGroup {
        Group(String name, EnvironmentFactory... parts) {
            super(name, "task", List.of(parts));
        }
    }

    private final Part sums = new Part("sums");
    private final Part products = new Part("products");
    private final Group group = new Group("arithmetic", sums, products);

    private State routed(EnvGroup to, ObjectNode columns) throws Exception {
        Example row = example(columns);
        return rollOut(to.create(row), state(ROOMY, 0, row), saying("4"));
    }

    private static ObjectNode task(String name) {
        return JsonNodeFactory.instance.objectNode().put("task", name);
    }

    @Test
    void aColumnOrAFieldOfInfoSaysInWhichPartARowRuns() throws Exception {
        assertThat(routed(group, task("products")).get("part")).isEqualTo("products");
        ObjectNode inInfo = JsonNodeFactory.instance.objectNode();
        inInfo.set("info", task("sums"));
        assertThat(routed(group, inInfo).get("part")).isEqualTo("sums");
    }

    @Test
    void whatOtherPartsMeasureStaysAbsentAndIsNotZero() throws Exception {
        assertThat(routed(group, task("products")).metrics())
                .containsKey("products_seen")
                .doesNotContainKey("sums_seen");
    }

    @Test
    void aGroupMayBeAPartOfAGroup() throws Exception {
        ObjectNode row = task("arithmetic");
        EnvGroup outer = new Group("all", new Part("talk"), new EnvGroup("arithmetic", "kind", List.of(sums)) {});
        assertThat(routed(outer, row.put("kind", "sums")).get("part")).isEqualTo("sums");
    }

    @Test
    void aRowThatNamesNoPartIsRefusedWithTheNamesThereAre() {
        assertThatThrownBy(() -> group.create(example(task("poems"))))
                .hasMessage("Invalid task 'poems' for the environment 'arithmetic': expected one of [sums, products]");
        assertThatThrownBy(() -> new Group("twice", new Part("sums"), new Part("sums")))
                .hasMessageContaining("two parts are called 'sums'");
    }

    @Test
    void everyPartIsOpenedAndTornDown() {
        group.open(null);
        assertThat(List.of(sums.open, products.open)).containsOnly(true);
        List<Throwable> thrown = new ArrayList<>();
        for (Handlers.Handler teardown : Handlers.of(Group.class, Teardown.class)) {
            try {
                teardown.call(group);
            } catch (Exception e) {
                thrown.add(e);
            }
        }
        assertThat(thrown).singleElement().extracting(Throwable::getMessage).isEqualTo("sums does not close");
        assertThat(List.of(sums.tornDown, products.tornDown)).containsOnly(true);
    }
}
