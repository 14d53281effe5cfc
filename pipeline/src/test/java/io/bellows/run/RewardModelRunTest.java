package io.bellows.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.bellows.SparkTest;
import io.bellows.config.BellowsConfig;
import io.bellows.config.InvalidConfigException;
import io.bellows.config.Purpose;
import io.bellows.config.RewardModelInput;
import io.bellows.model.GoldenModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RewardModelRunTest extends SparkTest {

    private static final String ASKED = "reward.functions=[{name: reward_model}]";

    @TempDir
    private Path folder;

    private String rewardModel() {
        Path model = folder.resolve("reward-model");
        GoldenModel.named("qwen2").saveRewardModel(model, 7);
        return "reward_model.model.path=" + model;
    }

    private BellowsConfig config(String... overrides) {
        return TinyRun.config(folder.resolve("run"), List.of(overrides));
    }

    private List<String> errors(String... overrides) {
        try {
            config(overrides);
            return List.of();
        } catch (InvalidConfigException e) {
            return e.errors();
        }
    }

    @Test
    void aRunLearnsFromWhatTheModelSays() {
        BellowsConfig config = config(
                "reward_model.enable=true",
                rewardModel(),
                ASKED,
                "trainer.total_training_steps=1",
                "data.train_batch_size=4",
                "actor.ppo_mini_batch_size=4");
        assertThat(MemoryPlan.of(config, Purpose.TRAIN, 1).parts()).containsKey("reward model");

        new TrainLoop(spark, config, Progress.NONE).run();

        List<Row> scores = spark.read()
                .parquet(folder + "/run/iterations/*/scores/attempt-*")
                .select("reward", "rewards", "status")
                .collectAsList();
        assertThat(scores).isNotEmpty().allSatisfy(row -> {
            assertThat(row.<String>getAs("status")).isEqualTo("scored");
            assertThat(row.<Double>getAs("reward"))
                    .isEqualTo(row.<String, Double>getJavaMap(1).get("reward_model"));
        });
        assertThat(scores.stream().map(row -> row.getDouble(0)).distinct()).hasSizeGreaterThan(1);
    }

    @Test
    void whatIsNoRewardModelOfThePolicyIsRefusedBeforeTheRun() throws IOException {
        assertThat(errors("reward_model.enable=true", rewardModel()))
                .singleElement()
                .asString()
                .contains("reward_model.enable = true: no reward function reads what the model says");
        assertThat(errors(ASKED)).singleElement().asString().contains("reward_model has no model to ask");
        assertThat(errors("reward_model.enable=true", ASKED))
                .singleElement()
                .asString()
                .contains("Invalid reward_model.model.path = null");
        Path policy = GoldenModel.named("qwen2").folder();
        assertThat(errors("reward_model.enable=true", ASKED, "reward_model.model.path=" + policy))
                .singleElement()
                .asString()
                .contains("Cannot find tensor score.weight in " + policy, "sequence classification");
        assertThat(errors("reward_model.enable=true", ASKED, rewardModel(), "reward_model.use_dynamic_bsz=false"))
                .singleElement()
                .asString()
                .contains("set reward_model.micro_batch_size_per_gpu");
    }

    @Test
    void oneWithAnotherTokenizerReadsTextAndSoNeedsAChatTemplate() throws IOException {
        String named = rewardModel();
        Path model = folder.resolve("reward-model");
        Path policy = GoldenModel.named("qwen2").folder();
        assertThat(RewardModelInput.of(model, policy)).isEqualTo(RewardModelInput.POLICY_IDS);

        Path tokenizer = model.resolve("tokenizer.json");
        Files.writeString(tokenizer, Files.readString(tokenizer).replaceFirst("\"content\":\\s*\"", "$0other"));
        assertThat(RewardModelInput.of(model, policy)).isEqualTo(RewardModelInput.TEXT);
        assertThat(errors("reward_model.enable=true", ASKED, named)).isEmpty();

        Path settings = model.resolve("tokenizer_config.json");
        Files.writeString(settings, Files.readString(settings).replace("chat_template", "no_template"));
        assertThat(errors("reward_model.enable=true", ASKED, named))
                .singleElement()
                .asString()
                .contains("Invalid reward_model.model.path", "template");
    }
}
