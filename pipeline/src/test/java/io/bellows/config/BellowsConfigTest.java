package io.bellows.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.bellows.model.GoldenModel;
import io.bellows.udfs.advantage.AdvantageRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BellowsConfigTest {

    @TempDir
    Path folder;

    private Path yaml;

    @BeforeEach
    void aValidFile() throws IOException {
        Files.createFile(folder.resolve("train.jsonl"));
        Files.createDirectory(folder.resolve("model"));
        String shape = Files.readString(GoldenModel.named("qwen2").folder().resolve("config.json"));
        Files.writeString(
                folder.resolve("model/config.json"),
                shape.replace("\"max_position_embeddings\": 512", "\"max_position_embeddings\": 1024"));
        Files.writeString(folder.resolve("model/chat_template.jinja"), "{{ messages[0].content }}");
        yaml = write("""
                data:
                  train_files: %1$s/train.jsonl
                  train_batch_size: 32
                model: {path: %1$s/model}
                rollout: {n: 8}
                actor:
                  ppo_mini_batch_size: 16
                  optim: {lr: 1e-4}
                """.formatted(folder));
    }

    @Test
    void bindsFileThenOverridesOverDefaults() {
        BellowsConfig config =
                load("rollout.n=4", "actor.optim.betas=[0.9, 0.95]", "rollout.stop=[\"\\n\\n\"]", "rollout.n=6");

        assertThat(config.data().trainFiles()).containsExactly(folder + "/train.jsonl");
        assertThat(config.data().trainBatchSize()).isEqualTo(32);
        assertThat(config.data().maxPromptLength()).isEqualTo(512);
        assertThat(config.rollout().n()).isEqualTo(6);
        assertThat(config.rollout().stop()).containsExactly("\n\n");
        assertThat(config.actor().optim().lr()).isEqualTo(1e-4);
        assertThat(config.actor().optim().betas()).containsExactly(0.9, 0.95);
        assertThat(config.data().seed()).isNull();
        assertThat(config.reward().functions())
                .containsExactly(new RewardConfig.Function("number_match", 1.0, Map.of()));
    }

    @Test
    void clipRangesFollowClipRatioUnlessSet() {
        BellowsConfig config = load("actor.clip_ratio=0.3", "actor.clip_ratio_high=0.28");

        assertThat(config.actor().clipLow()).isEqualTo(0.3);
        assertThat(config.actor().clipHigh()).isEqualTo(0.28);
    }

    @Test
    void variablesOfTheChatTemplateAreCheckedAgainstTheFolder() throws IOException {
        assertThat(errors("data.apply_chat_template_kwargs={chat_template: rag}"))
                .singleElement()
                .asString()
                .startsWith("Invalid data.apply_chat_template_kwargs: Cannot find the chat template 'rag'");
        assertThat(errors("data.apply_chat_template_kwargs={strftime_now: soon}"))
                .singleElement()
                .asString()
                .contains("Invalid template variable strftime_now: 'soon' is no date");
        Files.writeString(folder.resolve("model/chat_template.jinja"), "{{ strftime_now('%Y') }}");
        assertThat(errors("trainer.deterministic=true"))
                .singleElement()
                .asString()
                .contains("trainer.deterministic = true", "asks for today's date", "strftime_now=2024-07-26");
        load("trainer.deterministic=true", "data.apply_chat_template_kwargs.strftime_now=2024-07-26");
        Files.delete(folder.resolve("model/chat_template.jinja"));
        assertThat(errors())
                .singleElement()
                .asString()
                .contains("Cannot find a chat template in " + folder + "/model: add the file chat_template.jinja");
    }

    @Test
    void anUnderscoreIsNoPartOfANumber() throws IOException {
        assertThat(errors("algorithm.rollout_correction.rollout_rs_threshold=0.5_2"))
                .containsExactly(
                        "Invalid override 'algorithm.rollout_correction.rollout_rs_threshold=0.5_2': the value is not YAML"
                                + " ('0.5_2' is a number with an underscore; write it without, or two bounds in quotes)");
        assertThat(errors("data.train_batch_size=1_4"))
                .singleElement()
                .asString()
                .contains("'1_4' is a number with an underscore");
        load(
                "algorithm.rollout_correction.rollout_rs=token_k1",
                "algorithm.rollout_correction.rollout_rs_threshold='0.5_2'");
        assertThat(errors(
                        "algorithm.rollout_correction.rollout_rs=token_k1",
                        "algorithm.rollout_correction.rollout_rs_threshold=0.5"))
                .singleElement()
                .asString()
                .contains("rollout_rs_threshold '0.5': one bound of token_k1 is the upper one");
    }

    @Test
    void rewardEntriesKeepTheirOwnOptions() {
        BellowsConfig config = load("reward.functions=[{name: format_match, weight: 0.2, pattern: 'a+', as: shape}]");

        assertThat(config.reward().functions())
                .containsExactly(
                        new RewardConfig.Function("format_match", 0.2, Map.of("pattern", "a+", "as", "shape")));
    }

    @Test
    void sparkPropertiesMayBeNestedFlatOrOverridden() throws IOException {
        Files.writeString(yaml, Files.readString(yaml) + """
                        spark:
                          master: local[4]
                          spark.executor.memory: 2g
                          executor: {cores: 3}
                        """);

        assertThat(load("spark.master=local[2]").spark().properties())
                .isEqualTo(
                        Map.of("spark.master", "local[2]", "spark.executor.memory", "2g", "spark.executor.cores", "3"));
    }

    @Test
    void reportsEveryErrorAtOnceWithKeyValueAndRemedy() {
        List<String> errors = errors(
                "data.train_batch_sise=8",
                "rollout.n=1",
                "rollout.temperature=warm",
                "actor.ppo_mini_batch_size=12",
                "algorithm.adv_estimator=ppo",
                "actor.optim.lr_warmup_steps=3",
                "actor.optim.lr_warmup_steps_ratio=0.1",
                "data.val_files=/nowhere/val.jsonl",
                "actor.ppo_max_token_len_per_gpu=1000",
                "oops");

        assertThat(errors)
                .containsExactlyInAnyOrder(
                        "Invalid override 'oops': write key=value, such as data.train_batch_size=64",
                        "Invalid key data.train_batch_sise: there is no such key; did you mean data.train_batch_size?",
                        "Invalid rollout.temperature = 'warm': expected a number",
                        "Invalid algorithm.adv_estimator = 'ppo': use one of gae, grpo, grpo_vectorized, grpo_passk, rloo,"
                                + " rloo_vectorized, reinforce_plus_plus, reinforce_plus_plus_baseline, remax, opo, gpg,"
                                + " gdpo, optimal_token_baseline, tir_optimal_token_baseline",
                        "Invalid data.val_files = '/nowhere/val.jsonl': no such file or folder; relative paths start at "
                                + System.getProperty("user.dir"),
                        "Invalid actor.optim.lr_warmup_steps_ratio = 0.1: actor.optim.lr_warmup_steps = 3 is set too;"
                                + " keep one of them",
                        "Invalid rollout.n = 1: grpo compares the samples of a prompt, so every advantage would be 0;"
                                + " set 2 or more",
                        "Invalid actor.ppo_mini_batch_size = 12: it must divide data.train_batch_size = 32; the nearest"
                                + " that does is 8",
                        "Invalid actor.ppo_max_token_len_per_gpu = 1000: a sequence may have data.max_prompt_length +"
                                + " data.max_response_length = 1024 tokens; set at least that");
    }

    @Test
    void everyEstimatorOfTheRegistryIsConfigurable() {
        for (String name : AdvantageRegistry.names()) {
            assertThat(errors("oops", "algorithm.adv_estimator=" + name))
                    .as(name)
                    .noneMatch(e -> e.contains("use one of"));
        }
    }

    @Test
    void gdpoNeedsRewardsByNameAndNothingElseReadsThem() {
        assertThat(errors(
                        "algorithm.adv_estimator=gdpo",
                        "algorithm.gdpo_reward_keys=[number_match, brevity]",
                        "algorithm.gdpo_reward_weights=[1.0]",
                        "algorithm.use_kl_in_reward=true"))
                .contains(
                        "Invalid algorithm.gdpo_reward_keys: no reward function is named 'brevity'; the names are"
                                + " [number_match]",
                        "Invalid algorithm.gdpo_reward_weights = [1.0]: 1 for 2 algorithm.gdpo_reward_keys; give one each,"
                                + " or none",
                        "Invalid algorithm.use_kl_in_reward = true: gdpo normalizes each reward by itself, so that there"
                                + " is no place for the penalty; set actor.use_kl_loss=true instead");
        assertThat(errors("algorithm.gdpo_reward_keys=[number_match]"))
                .contains("Invalid algorithm.gdpo_reward_keys: only algorithm.adv_estimator = gdpo uses it; remove it");
    }

    @Test
    void overlongShapingIsTheLengthRewardBesideTheOthers() {
        BellowsConfig config = load(
                "data.max_response_length=100",
                "reward.reward_kwargs.overlong_buffer_cfg.enable=true",
                "reward.reward_kwargs.overlong_buffer_cfg.len=20",
                "reward.reward_kwargs.overlong_buffer_cfg.penalty_factor=0.5");

        assertThat(config.rewardFunctions()).hasSize(2);
        RewardConfig.Function overlong = config.rewardFunctions().get(1);
        assertThat(overlong.name()).isEqualTo("length");
        assertThat(overlong.weight()).isEqualTo(0.5);
        assertThat(overlong.options())
                .containsOnly(
                        java.util.Map.entry("max_length", 100),
                        java.util.Map.entry("buffer", 20),
                        java.util.Map.entry("as", "overlong_reward"));
        assertThat(errors(
                        "data.max_response_length=100",
                        "reward.reward_kwargs.overlong_buffer_cfg.enable=true",
                        "reward.reward_kwargs.overlong_buffer_cfg.len=200"))
                .containsExactly("Invalid reward.reward_kwargs.overlong_buffer_cfg.len = 200: expected from 1 to"
                        + " data.max_response_length = 100");
    }

    @Test
    void anAdaptiveWeightOfTheDivergenceNeedsATarget() {
        assertThat(errors("algorithm.kl_ctrl.type=adaptive", "algorithm.kl_ctrl.target_kl=0"))
                .contains("Invalid algorithm.kl_ctrl.target_kl = 0.0: expected above 0, such as 0.1");
    }

    @Test
    void keysOfVerlAreTranslated() {
        assertThat(errors(
                        "actor_rollout_ref.actor.optim.lr=1e-6",
                        "actor_rollout_ref.rollout.nn=4",
                        "actor_rollout_ref.rollout.name=vllm",
                        "actor_rollout_ref.nccl_timeout=60",
                        "actor_rollout_ref.actor.shuffle=true",
                        "trainer.logger=[console]",
                        "data.val_batch_size=8",
                        "batch_size=3",
                        "zzz.qqqqqqqq=1"))
                .containsExactlyInAnyOrder(
                        "Invalid key actor_rollout_ref.actor.optim.lr: there is no such key; write actor.optim.lr",
                        "Invalid key actor_rollout_ref.rollout.nn: there is no such key; did you mean rollout.n?",
                        "Invalid key actor_rollout_ref.rollout.name: there is no such key; there is one engine; remove the key",
                        "Invalid key actor_rollout_ref.nccl_timeout: there is no such key; set trainer.nccl_timeout",
                        "Invalid key actor_rollout_ref.actor.shuffle: there is no such key; every pass over an iteration"
                                + " takes its groups in a new order, from trainer.seed; remove the key",
                        "Invalid key trainer.logger: there is no such key; metrics go to the console and to the table"
                                + " metrics; remove the key",
                        "Invalid key data.val_batch_size: there is no such key; all of data.val_files is validated at"
                                + " once; remove the key",
                        "Invalid key batch_size: there is no such key; write data.train_batch_size",
                        "Invalid key zzz.qqqqqqqq: there is no such key; remove it; 'bellows validate --defaults' lists every"
                                + " key");
    }

    @Test
    void wrongTypesAndRangesSayWhatIsExpected() {
        assertThat(errors(
                        "data.shuffle=perhaps",
                        "data.train_batch_size=1.5",
                        "data.max_prompt_length=0",
                        "rollout.top_p=1.5",
                        "rollout.top_k=0",
                        "trainer.seed=null",
                        "actor.optim=3",
                        "reward.functions=[exact_match]"))
                .contains(
                        "Invalid data.shuffle = 'perhaps': expected true or false",
                        "Invalid data.train_batch_size = 1.5: expected a whole number, such as 128",
                        "Invalid data.max_prompt_length = 0: expected at least 1",
                        "Invalid rollout.top_p = 1.5: expected at most 1.0",
                        "Invalid rollout.top_k = 0: use -1 for all tokens or a number above 0",
                        "Invalid trainer.seed = null: it needs a value, its default is 42",
                        "Invalid actor.optim = 3: expected keys and values",
                        "Invalid reward.functions = [\"exact_match\"]: expected an object, such as {name: exact_match, weight:"
                                + " 1.0}");
    }

    @Test
    void brokenYamlNamesFileAndLine() throws IOException {
        Path broken = write("data:\n  train_batch_size: 3\n  train_batch_size: 4\n");

        assertThat(catchThrowableOfType(InvalidConfigException.class, () -> BellowsConfig.load(broken, List.of())))
                .hasMessageContaining("Invalid YAML in " + broken + ", line 3: Duplicate field 'train_batch_size'");
    }

    @Test
    void aMissingFileIsAConfigurationError() {
        assertThat(catchThrowableOfType(
                        InvalidConfigException.class, () -> BellowsConfig.load(folder.resolve("none.yaml"), List.of())))
                .hasMessageContaining("Cannot read the configuration file");
    }

    @Test
    void sftNeedsNoRolloutRules() {
        BellowsConfig config = BellowsConfig.load(yaml, List.of("rollout.n=1"), Purpose.SFT);

        assertThat(config.rollout().n()).isEqualTo(1);
    }

    @Test
    void aSequenceLongerThanTheModelHoldsIsRefused() {
        assertThat(errors("data.max_response_length=600"))
                .containsExactly(
                        "Invalid data.max_response_length = 600: with data.max_prompt_length = 512 a sequence may"
                                + " have 1112 tokens, but the model of model.path = '" + folder
                                + "/model' holds max_position_embeddings = 1024; lower one of the lengths, or take a model for"
                                + " longer sequences");
    }

    @Test
    void aFreshModelMustHoldTheLongestSequenceToo() {
        Path shape = GoldenModel.named("qwen2").folder().resolve("config.json");

        assertThatExceptionOfType(InvalidConfigException.class)
                .isThrownBy(() -> BellowsConfig.load(yaml, List.of("model.init_config=" + shape), Purpose.SFT))
                .withMessageContaining(
                        "the model of model.init_config = '" + shape + "' holds" + " max_position_embeddings = 512");
    }

    @Test
    void aModelFolderThatCannotBeReadIsAConfigurationError() throws IOException {
        Files.delete(folder.resolve("model/config.json"));

        assertThat(errors()).singleElement().asString().contains("model.path", "Cannot read model configuration");
    }

    @Test
    void aRunBelongsOnTheLocalFileSystem() {
        assertThat(load("trainer.default_local_dir=file:" + folder).trainer().runDirectory())
                .isEqualTo("file:" + folder);
        assertThat(errors("trainer.default_local_dir=s3a://bucket/run"))
                .singleElement()
                .asString()
                .startsWith("Unsupported trainer.default_local_dir = 's3a://bucket/run': ")
                .contains("shared mount");
    }

    @Test
    void keysOfFreshWeightsNeedAShape() {
        assertThat(errors("model.init_seed=3"))
                .containsExactly(
                        "Invalid model.init_seed = 3: it is used with model.init_config only; set that or remove this");
    }

    @Test
    void resolvedConfigurationReadsBackEqual() {
        BellowsConfig config = load("spark.master=local[2]", "reward.functions=[{name: format_match, pattern: x}]");

        assertThat(BellowsConfig.fromResolved(config.resolved())).isEqualTo(config);
        assertThat(BellowsConfig.fromResolved(config.resolved()).hash()).isEqualTo(config.hash());
    }

    @Test
    void onlyFixedKeysCountAsADifference() {
        BellowsConfig before = load("trainer.total_training_steps=5");
        BellowsConfig longer = load("trainer.total_training_steps=9", "spark.master=local[2]");
        BellowsConfig other = load("actor.optim.lr=2e-4", "reward.functions=[{name: exact_match}]");

        assertThat(before.differencesOnResume(longer)).isEmpty();
        assertThat(before.hash()).isEqualTo(longer.hash());
        assertThat(before.differencesOnResume(other))
                .containsExactly(
                        "actor.optim.lr was 1.0E-4, is now 2.0E-4",
                        "reward.functions was [{\"name\":\"number_match\",\"weight\":1.0}], is now"
                                + " [{\"name\":\"exact_match\",\"weight\":1.0}]");
        assertThat(before.hash()).isNotEqualTo(other.hash());
    }

    @Test
    void theCriticFollowsThePolicyWhereItsKeysAreAbsent() {
        BellowsConfig config =
                load("critic.enable=true", "actor.use_dynamic_bsz=false", "actor.ppo_micro_batch_size_per_gpu=4");

        assertThat(config.usesCritic()).isTrue();
        assertThat(config.criticPath()).isEqualTo(config.model().path());
        assertThat(config.critic().optim().lr()).isEqualTo(1e-5);
        assertThat(config.actor().optim().lr()).isEqualTo(1e-4);
        assertThat(config.criticUpdateLimit()).isEqualTo(new MicroBatchLimit(null, 4));
        assertThat(load("critic.optim.weight_decay=0.1").critic().optim().lr()).isEqualTo(1e-5);
        assertThat(load("critic.optim.lr=3e-4").critic().optim().lr()).isEqualTo(3e-4);
        assertThat(load().usesCritic()).isFalse();
    }

    @Test
    void eachPassOverTheRowsHasItsOwnLimit() {
        BellowsConfig config = load(
                "critic.enable=true",
                "actor.ppo_max_token_len_per_gpu=2000",
                "ref.log_prob_max_token_len_per_gpu=3000",
                "rollout.log_prob_use_dynamic_bsz=false",
                "rollout.log_prob_micro_batch_size_per_gpu=5",
                "critic.forward_max_token_len_per_gpu=7000");

        assertThat(config.actorUpdateLimit()).isEqualTo(new MicroBatchLimit(2000, null));
        assertThat(config.refLogProbLimit()).isEqualTo(new MicroBatchLimit(3000, null));
        assertThat(config.oldLogProbLimit()).isEqualTo(new MicroBatchLimit(null, 5));
        assertThat(config.criticUpdateLimit()).isEqualTo(new MicroBatchLimit(32768, null));
        assertThat(config.valuesLimit()).isEqualTo(new MicroBatchLimit(7000, null));
    }

    @Test
    void aLimitThatCutsNothingOrIsMissingIsNamed() {
        assertThat(errors("actor.ppo_micro_batch_size_per_gpu=4", "ref.log_prob_max_token_len_per_gpu=1000"))
                .containsExactlyInAnyOrder(
                        "Invalid actor.ppo_micro_batch_size_per_gpu = 4: it has no effect on micro-batches by token"
                                + " budget; set actor.use_dynamic_bsz=false, or remove it",
                        "Invalid ref.log_prob_max_token_len_per_gpu = 1000: a sequence may have data.max_prompt_length +"
                                + " data.max_response_length = 1024 tokens; set at least that");
        assertThat(errors("rollout.log_prob_use_dynamic_bsz=false", "rollout.log_prob_max_token_len_per_gpu=2000"))
                .containsExactlyInAnyOrder(
                        "Invalid rollout.log_prob_max_token_len_per_gpu = 2000: it has no effect on micro-batches by"
                                + " number of rows; set rollout.log_prob_use_dynamic_bsz=true, or remove it",
                        "Invalid rollout.log_prob_use_dynamic_bsz = false: nothing says how many rows a micro-batch has;"
                                + " set rollout.log_prob_micro_batch_size_per_gpu");
        assertThat(errors(
                        "actor.use_dynamic_bsz=false",
                        "actor.ppo_micro_batch_size_per_gpu=4",
                        "actor.ppo_max_token_len_per_gpu=1000",
                        "ref.log_prob_use_dynamic_bsz=true"))
                .containsExactly("Invalid actor.ppo_max_token_len_per_gpu = 1000: a sequence may have"
                        + " data.max_prompt_length + data.max_response_length = 1024 tokens; set at least that");
    }

    @Test
    void theWarmUpOfTheCriticNeedsACriticAndAnEnd() {
        assertThat(errors("trainer.critic_warmup=2"))
                .containsExactly("Invalid trainer.critic_warmup = 2: there is no critic to warm up; set"
                        + " critic.enable=true, or trainer.critic_warmup=0");
        assertThat(errors("trainer.critic_warmup=5", "critic.enable=true", "trainer.total_training_steps=5"))
                .containsExactly("Invalid trainer.critic_warmup = 5: the policy would never be updated in"
                        + " trainer.total_training_steps = 5 iterations; lower the first or raise the second");
    }

    @Test
    void theCriticHasRulesOfItsOwn() throws IOException {
        Path small = Files.createDirectory(folder.resolve("critic"));
        String shape = Files.readString(folder.resolve("model/config.json"));
        Files.writeString(small.resolve("config.json"), shape.replaceAll("\"vocab_size\": \\d+", "\"vocab_size\": 10"));

        assertThat(errors(
                        "critic.enable=true",
                        "critic.model.path=" + small,
                        "critic.ppo_mini_batch_size=5",
                        "critic.cliprange_value=0",
                        "critic.optim.eps=0"))
                .satisfiesExactlyInAnyOrder(
                        error -> assertThat(error)
                                .startsWith("Invalid critic.model.path = '" + small
                                        + "': its vocabulary of 10 tokens is smaller than the "),
                        error -> assertThat(error)
                                .startsWith("Invalid critic.ppo_mini_batch_size = 5: it must divide"
                                        + " data.train_batch_size = 32"),
                        error -> assertThat(error).startsWith("Invalid critic.cliprange_value = 0.0: expected above 0"),
                        error -> assertThat(error).startsWith("Invalid critic.optim.eps = 0.0: expected above 0"));
    }

    @Test
    void toolsAreCheckedWhereTheRunStarts() throws IOException {
        assertThat(errors("rollout.multi_turn.enable=true"))
                .singleElement()
                .asString()
                .startsWith(
                        "Invalid rollout.multi_turn: there is no tool to call; set tool_config_path or function_tools");
        Files.writeString(folder.resolve("tools.yaml"), "tools: [{class_name: java.lang.Runtime}]");
        String tools = "rollout.multi_turn.tool_config_path=" + folder.resolve("tools.yaml");
        assertThat(errors(tools, "rollout.multi_turn.enable=true", "rollout.multi_turn.max_assistant_turns=1"))
                .satisfiesExactly(
                        error -> assertThat(error)
                                .startsWith("Invalid rollout.multi_turn.max_assistant_turns = 1: the model could not"),
                        error -> assertThat(error)
                                .contains("tools[0]: Unsupported class_name 'java.lang.Runtime'", "io.bellows.tool"));
        assertThat(errors("rollout.multi_turn.tool_config_path=nowhere.yaml"))
                .containsExactly("Invalid rollout.multi_turn.tool_config_path = 'nowhere.yaml': there is no such file;"
                        + " name one that lists the tools");
        assertThat(errors("actor_rollout_ref.rollout.multi_turn.function_tool_path=tools.py"))
                .singleElement()
                .asString()
                .endsWith("tools are Java: name classes with annotated methods in rollout.multi_turn.function_tools");
    }

    @Test
    void everyKeyHasADefaultAndAMeaning() {
        assertThat(BellowsConfig.keys())
                .contains(
                        new Key("critic.optim.lr", "1e-5", "Learning rate at the top of the schedule", OnResume.FIXED));
        assertThat(BellowsConfig.keys()).allSatisfy(key -> {
            assertThat(key.name()).matches("[a-z0-9_.*]+");
            assertThat(key.about()).isNotBlank();
        });
        assertThat(BellowsConfig.keys().stream().map(Key::name))
                .contains(
                        "actor.ppo_max_token_len_per_gpu",
                        "rollout.val_kwargs.do_sample",
                        "reward.functions",
                        "spark.*")
                .doesNotHaveDuplicates();
    }

    private BellowsConfig load(String... overrides) {
        return BellowsConfig.load(yaml, List.of(overrides));
    }

    private List<String> errors(String... overrides) {
        return new ArrayList<>(catchThrowableOfType(InvalidConfigException.class, () -> load(overrides))
                .errors());
    }

    private Path write(String text) throws IOException {
        Path file = folder.resolve("config.yaml");
        return Files.writeString(file, text);
    }
}
