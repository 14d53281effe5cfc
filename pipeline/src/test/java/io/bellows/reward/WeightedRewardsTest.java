package io.bellows.reward;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bellows.config.InvalidConfigException;
import io.bellows.config.RewardConfig;
import io.bellows.reward.RewardOutcome.Status;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class WeightedRewardsTest {

    private static final RewardInput INPUT = RewardInput.of("#### 4", "4");

    private static WeightedRewards.Term term(String name, double weight, RewardFunction function) {
        return new WeightedRewards.Term(name, weight, function);
    }

    @Test
    void sumsWeightedValuesAndKeepsTheComponents() {
        RewardScore score = new WeightedRewards(List.of(
                        term("a", 2, in -> RewardOutcome.of(0.5)),
                        term("b", -1, in -> RewardOutcome.of(0.25)),
                        term("seen", 0, in -> RewardOutcome.of(7))))
                .score(INPUT);
        assertThat(score.reward()).isEqualTo(0.75);
        assertThat(score.components())
                .containsExactly(Map.entry("a", 0.5), Map.entry("b", 0.25), Map.entry("seen", 7.0));
        assertThat(score.status()).isEqualTo(Status.SCORED);
        assertThat(score.message()).isNull();
    }

    @Test
    void anUnscoredFunctionLeavesTheRewardNullAndNeverZero() {
        RewardScore score = new WeightedRewards(List.of(
                        term("a", 1, in -> RewardOutcome.of(1)),
                        term("judge", 1, in -> RewardOutcome.unscored("not asked"))))
                .score(INPUT);
        assertThat(score.reward()).isNull();
        assertThat(score.components()).containsEntry("a", 1.0).containsEntry("judge", null);
        assertThat(score.status()).isEqualTo(Status.UNSCORED);
        assertThat(score.message()).isEqualTo("judge: not asked");
    }

    @Test
    void anUnscoredFunctionOfWeightZeroDecidesNothing() {
        RewardScore score = new WeightedRewards(List.of(
                        term("a", 1, in -> RewardOutcome.of(1)),
                        term("seen", 0, in -> RewardOutcome.unscored("nothing to see"))))
                .score(INPUT);
        assertThat(score.reward()).isEqualTo(1.0);
        assertThat(score.status()).isEqualTo(Status.SCORED);
    }

    @Test
    void nanAndExceptionsAreErrorsOfThatTrajectoryOnly() {
        WeightedRewards rewards = new WeightedRewards(List.of(
                term("nan", 1, in -> RewardOutcome.of(Double.NaN)),
                term("broken", 1, in -> {
                    throw new IllegalStateException("no connection");
                }),
                term("nothing", 1, in -> null)));
        RewardScore score = rewards.score(INPUT);
        assertThat(score.reward()).isNull();
        assertThat(score.status()).isEqualTo(Status.FAILED);
        assertThat(score.message()).contains("nan: Invalid reward NaN", "broken: ", "no connection", "nothing: ");
    }

    @Test
    void aSumThatOverflowsIsAnError() {
        RewardScore score = new WeightedRewards(List.of(
                        term("a", 1e308, in -> RewardOutcome.of(1)), term("b", 1e308, in -> RewardOutcome.of(1))))
                .score(INPUT);
        assertThat(score.reward()).isNull();
        assertThat(score.status()).isEqualTo(Status.FAILED);
    }

    @Test
    void theRegistryMakesWhatTheConfigurationNames() throws Exception {
        WeightedRewards rewards = RewardRegistry.standard()
                .create(List.of(
                        new RewardConfig.Function("number_match", 1.0, Map.of("answer", "hash")),
                        new RewardConfig.Function("format_match", 0.5, Map.of("pattern", "^####", "as", "mark"))));
        assertThat(rewards.names()).containsExactly("number_match", "mark");
        assertThat(sentToAnExecutor(rewards).score(INPUT).reward()).isEqualTo(1.5);
    }

    @Test
    void theRegistryReportsEveryErrorAtOnce() {
        List<RewardConfig.Function> functions = List.of(
                new RewardConfig.Function("nummber_match", 1.0, Map.of()),
                new RewardConfig.Function("number_match", 1.0, Map.of("tolerance", "big")),
                new RewardConfig.Function("format_match", 1.0, Map.of()),
                new RewardConfig.Function("length", 1.0, Map.of("max_length", 4, "buffer", 9)),
                new RewardConfig.Function("exact_match", 1.0, Map.of("anser", "hash")));
        assertThatThrownBy(() -> RewardRegistry.standard().create(functions))
                .isInstanceOf(InvalidConfigException.class)
                .hasMessageContaining("reward.functions[0]: Unsupported reward function 'nummber_match'")
                .hasMessageContaining("reward.functions[1]: Invalid tolerance=big")
                .hasMessageContaining("reward.functions[2]: Invalid options: 'pattern' is missing")
                .hasMessageContaining("reward.functions[3]: Invalid buffer 9")
                .hasMessageContaining("reward.functions[4]: Unsupported options [anser]");
    }

    @Test
    void twoFunctionsCannotBeRecordedUnderOneName() {
        RewardConfig.Function length = new RewardConfig.Function("length", 1.0, Map.of("max_length", 9, "buffer", 4));
        assertThatThrownBy(() -> RewardRegistry.standard().create(List.of(length, length)))
                .hasMessageContaining("two functions are recorded as 'length'")
                .hasMessageContaining("'as'");
    }

    private static WeightedRewards sentToAnExecutor(WeightedRewards rewards) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(rewards);
        }
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            return (WeightedRewards) in.readObject();
        }
    }
}
