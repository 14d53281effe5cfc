package io.bellows.config;

import io.bellows.env.EnvironmentSettings;
import io.bellows.env.Environments;
import io.bellows.model.InvalidModelException;
import io.bellows.model.ModelConfig;
import io.bellows.reward.RewardRegistry;
import io.bellows.text.ChatTemplate;
import java.io.File;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;

/** The rules that tie keys to each other and to files; rules of a single key stand at its {@link Setting}. */
final class Rules {

    private final BellowsConfig config;
    private final Errors errors;
    private final MicroBatchRules microBatches;

    Rules(BellowsConfig config, Errors errors) {
        this.config = config;
        this.errors = errors;
        this.microBatches = new MicroBatchRules(config, errors);
    }

    void check(Purpose purpose) {
        data(purpose);
        model(purpose);
        if (purpose.evaluates()) {
            trainer();
            environments();
            validationSampling();
            reward();
            return;
        }
        optimizer("actor", config.actor().optim(), config.actor().gradClip());
        trainer();
        if (purpose == Purpose.TRAIN) {
            rollout();
            actor();
            new PolicyLossRules(config, errors).check();
            microBatches.ofPolicies();
            critic();
            new AlgorithmRules(config, errors).check();
            reward();
        } else {
            microBatches.ofSft();
        }
    }

    private void data(Purpose purpose) {
        DataConfig data = config.data();
        boolean evaluates = purpose.evaluates();
        if (evaluates ? data.valFiles().isEmpty() : data.trainFiles().isEmpty()) {
            errors.add(
                    evaluates
                            ? "Invalid data.val_files = []: name at least one file to evaluate on"
                            : "Invalid data.train_files = []: name at least one training file");
        }
        if (!evaluates) {
            data.trainFiles().forEach(file -> exists("data.train_files", file));
        }
        data.valFiles().forEach(file -> exists("data.val_files", file));
        if (data.trainMaxSamples() == 0 || data.valMaxSamples() == 0) {
            String key = data.trainMaxSamples() == 0 ? "data.train_max_samples" : "data.val_max_samples";
            errors.add("Invalid " + key + " = 0: use -1 for all rows or a number above 0");
        }
        if (!evaluates && data.trainMaxSamples() > 0 && data.trainMaxSamples() < data.trainBatchSize()) {
            errors.add("Invalid data.train_max_samples = " + data.trainMaxSamples() + ": fewer than one batch of"
                    + " data.train_batch_size = " + data.trainBatchSize() + "; raise the first or lower the second");
        }
    }

    private void model(Purpose purpose) {
        ModelSection model = config.model();
        if (model.path() == null) {
            errors.add("Invalid model.path = null: name the Hugging Face folder to start from");
        } else {
            exists("model.path", model.path());
        }
        if (model.initConfig() != null) {
            if (purpose == Purpose.TRAIN) {
                errors.add("Invalid model.init_config = '" + model.initConfig()
                        + "': a policy cannot start from random weights; use it with sft, or remove it");
            }
            exists("model.init_config", model.initConfig());
        }
        if (model.initSeed() != null && model.initConfig() == null) {
            errors.add("Invalid model.init_seed = " + model.initSeed()
                    + ": it is used with model.init_config only; set that or remove this");
        }
        if (purpose != Purpose.EVAL_OF_SERVERS) { // what these serve, and how long it may get, is theirs to know
            modelHoldsLongestSequence();
        }
        chatTemplate();
    }

    private void chatTemplate() {
        String folder = config.model().path();
        if (folder == null || !new File(folder).exists()) {
            return; // noted as missing
        }
        try {
            ChatTemplate template = ChatTemplate.load(java.nio.file.Path.of(folder));
            Map<String, Object> variables = config.data().applyChatTemplateKwargs();
            template.check(variables);
            if (config.trainer().deterministic() && template.readsToday(variables)) {
                errors.add("Invalid trainer.deterministic = true: the chat template of model.path = '" + folder
                        + "' asks for today's date; set it with"
                        + " data.apply_chat_template_kwargs.strftime_now=2024-07-26, or another day");
            }
        } catch (IOException e) {
            errors.add("Invalid model.path = '" + folder + "': " + e.getMessage());
        } catch (IllegalArgumentException e) {
            errors.add("Invalid data.apply_chat_template_kwargs: " + e.getMessage());
        }
    }

    private void modelHoldsLongestSequence() {
        ModelSection model = config.model();
        String key = model.initConfig() == null ? "model.path" : "model.init_config";
        String value = model.initConfig() == null ? model.path() : model.initConfig();
        if (value == null || !new File(value).exists()) {
            return; // noted as missing
        }
        try {
            ModelConfig shape = model.initConfig() == null
                    ? ModelConfig.read(java.nio.file.Path.of(value))
                    : ModelConfig.parse(java.nio.file.Path.of(value));
            if (config.maxSequenceLength() > shape.maxPositions()) {
                errors.add("Invalid data.max_response_length = " + config.data().maxResponseLength()
                        + ": with data.max_prompt_length = " + config.data().maxPromptLength()
                        + " a sequence may have " + config.maxSequenceLength() + " tokens, but the model of " + key
                        + " = '"
                        + value + "' holds max_position_embeddings = " + shape.maxPositions()
                        + "; lower one of the lengths, or take a model for longer sequences");
            }
        } catch (InvalidModelException e) {
            errors.add("Invalid " + key + " = '" + value + "': " + e.getMessage());
        }
    }

    private void rollout() {
        RolloutConfig rollout = config.rollout();
        String estimator = config.algorithm().advEstimator();
        if (rollout.n() < 2 && config.algorithm().estimator().comparesGroup()) {
            errors.add("Invalid rollout.n = " + rollout.n() + ": " + estimator
                    + " compares the samples of a prompt, so every advantage would be 0; set 2 or more");
        }
        if (rollout.temperature() == 0) {
            errors.add("Invalid rollout.temperature = 0.0: training samples, so it must be above 0;"
                    + " for greedy validation set rollout.val_kwargs.temperature");
        }
        environments();
        filterGroups(config.algorithm().filterGroups());
        sampling("rollout", rollout.topK(), rollout.topP());
        validationSampling();
    }

    private void validationSampling() {
        RolloutConfig.ValKwargs val = config.rollout().valKwargs();
        sampling("rollout.val_kwargs", val.topK(), val.topP());
        if (val.doSample() && val.temperature() == 0) {
            errors.add("Invalid rollout.val_kwargs.temperature = 0.0: sampling (rollout.val_kwargs.do_sample = true)"
                    + " needs a temperature above 0");
        }
        if (!val.doSample() && val.temperature() > 0) {
            errors.add("Invalid rollout.val_kwargs.temperature = " + val.temperature()
                    + ": it has no effect while rollout.val_kwargs.do_sample = false; set do_sample=true or"
                    + " temperature=0");
        }
        if (!val.doSample() && val.n() > 1) {
            errors.add("Invalid rollout.val_kwargs.n = " + val.n()
                    + ": greedy samples are all alike; set rollout.val_kwargs.do_sample=true or n=1");
        }
    }

    private void environments() {
        RolloutConfig.MultiTurn multiTurn = config.rollout().multiTurn();
        if (multiTurn.toolConfigPath() != null && !new File(multiTurn.toolConfigPath()).isFile()) {
            errors.add("Invalid rollout.multi_turn.tool_config_path = '" + multiTurn.toolConfigPath()
                    + "': there is no such file; name one that lists the tools");
            return;
        }
        EnvironmentSettings settings = EnvironmentSettings.of(config);
        tools(settings);
        List<String> known = new Environments(settings).names();
        if (!known.contains(Environments.canonical(settings.defaultEnvironment()))) {
            errors.add("Invalid rollout.agent.default_agent_loop = '" + settings.defaultEnvironment() + "': use one of "
                    + String.join(", ", known));
        }
    }

    private void tools(EnvironmentSettings settings) {
        RolloutConfig.MultiTurn multiTurn = settings.multiTurn();
        boolean none =
                multiTurn.toolConfigPath() == null && multiTurn.functionTools().isEmpty();
        if (none && settings.usesTools()) {
            errors.add(
                    "Invalid rollout.multi_turn: there is no tool to call; set tool_config_path or function_tools, or"
                            + " enable=false for conversations without");
        }
        if (multiTurn.enable() && multiTurn.maxAssistantTurns() != null && multiTurn.maxAssistantTurns() < 2) {
            errors.add("Invalid rollout.multi_turn.max_assistant_turns = " + multiTurn.maxAssistantTurns()
                    + ": the model could not answer what a tool said; set 2 or more, or enable=false");
        }
        try {
            settings.toolRegistry();
        } catch (InvalidConfigException e) {
            e.errors().forEach(errors::add);
        }
    }

    private void filterGroups(FilterGroupsConfig filter) {
        Integer genBatchSize = config.data().genBatchSize();
        if (!filter.enable()) {
            if (filter.carryOver() || genBatchSize != null) {
                String key = filter.carryOver() ? "algorithm.filter_groups.carry_over" : "data.gen_batch_size";
                errors.add("Invalid " + key + " = " + (filter.carryOver() ? "true" : genBatchSize)
                        + ": it has no effect while algorithm.filter_groups.enable = false; set that to true or remove"
                        + " this");
            }
            return;
        }
        RolloutCorrectionConfig correction = config.algorithm().rolloutCorrection();
        if (filter.carryOver() && !correction.isActive() && !correction.bypassMode()) {
            errors.add("Invalid algorithm.filter_groups.carry_over = true: groups that an older policy sampled need"
                    + " correction; set algorithm.rollout_correction.rollout_is=token, or carry_over=false");
        }
        if (config.rollout().n() < 2) {
            errors.add("Invalid algorithm.filter_groups.enable = true: with rollout.n = "
                    + config.rollout().n() + " no group has samples that differ; set rollout.n to 2 or more");
        }
    }

    private void filterMetric(List<String> rewards) {
        FilterGroupsConfig filter = config.algorithm().filterGroups();
        if (filter.enable()
                && !List.of("acc", "score").contains(filter.metric())
                && !rewards.contains(filter.metric())) {
            errors.add("Invalid algorithm.filter_groups.metric = '" + filter.metric() + "': use acc, score or one of "
                    + String.join(", ", rewards));
        }
    }

    private void sampling(String section, int topK, double topP) {
        if (topK == 0) {
            errors.add("Invalid " + section + ".top_k = 0: use -1 for all tokens or a number above 0");
        }
        if (topP <= 0) {
            errors.add("Invalid " + section + ".top_p = " + topP + ": expected above 0, at most 1");
        }
    }

    private void actor() {
        ActorConfig actor = config.actor();
        dividesBatch("actor.ppo_mini_batch_size", actor.ppoMiniBatchSize());
        if (actor.clipRatio() >= 1 && actor.clipRatioLow() == null) {
            errors.add("Invalid actor.clip_ratio = " + actor.clipRatio()
                    + ": a ratio cannot fall by 1 or more; set it below 1, or set actor.clip_ratio_low");
        }
        if (actor.clipRatioC() <= 1) {
            errors.add("Invalid actor.clip_ratio_c = " + actor.clipRatioC() + ": expected above 1, such as 3.0");
        }
        if (actor.lossScaleFactor() != null && !actor.lossAggMode().equals("seq-mean-token-sum-norm")) {
            errors.add("Invalid actor.loss_scale_factor = " + actor.lossScaleFactor()
                    + ": only actor.loss_agg_mode = seq-mean-token-sum-norm uses it; remove it or set that mode");
        }
        if (actor.lossScaleFactor() != null && actor.lossScaleFactor() <= 0) {
            errors.add("Invalid actor.loss_scale_factor = " + actor.lossScaleFactor() + ": expected above 0");
        }
    }

    private void critic() {
        CriticConfig critic = config.critic();
        TrainerConfig trainer = config.trainer();
        if (!config.usesCritic()) {
            if (trainer.criticWarmup() > 0) {
                errors.add("Invalid trainer.critic_warmup = " + trainer.criticWarmup()
                        + ": there is no critic to warm up; set critic.enable=true, or trainer.critic_warmup=0");
            }
            if (config.algorithm().advEstimator().equals("gae")) {
                errors.add("Invalid critic.enable = false: algorithm.adv_estimator = gae needs the values of a critic;"
                        + " remove the key, or choose another estimator");
            }
            return;
        }
        if (trainer.totalTrainingSteps() != null && trainer.criticWarmup() >= trainer.totalTrainingSteps()) {
            errors.add("Invalid trainer.critic_warmup = " + trainer.criticWarmup() + ": the policy would never be"
                    + " updated in trainer.total_training_steps = " + trainer.totalTrainingSteps()
                    + " iterations; lower the first or raise the second");
        }
        if (critic.ppoMiniBatchSize() != null) {
            dividesBatch("critic.ppo_mini_batch_size", critic.ppoMiniBatchSize());
        }
        if (!(critic.cliprangeValue() > 0)) {
            errors.add(
                    "Invalid critic.cliprange_value = " + critic.cliprangeValue() + ": expected above 0, such as 0.5");
        }
        optimizer("critic", critic.optim(), critic.gradClip());
        microBatches.ofCritic();
        if (critic.model().path() != null) {
            criticModel(critic.model().path());
        }
    }

    private void criticModel(String path) {
        exists("critic.model.path", path);
        String policyPath = config.model().path();
        if (policyPath == null || !new File(path).exists() || !new File(policyPath).exists()) {
            return; // noted as missing
        }
        try {
            ModelConfig critic = ModelConfig.read(java.nio.file.Path.of(path));
            ModelConfig policy = ModelConfig.read(java.nio.file.Path.of(policyPath));
            if (critic.vocabularySize() < policy.vocabularySize()) {
                errors.add("Invalid critic.model.path = '" + path + "': its vocabulary of " + critic.vocabularySize()
                        + " tokens is smaller than the " + policy.vocabularySize() + " of model.path = '" + policyPath
                        + "', whose tokens it reads; take a critic with the same tokenizer");
            }
            if (config.maxSequenceLength() > critic.maxPositions()) {
                errors.add("Invalid critic.model.path = '" + path + "': it holds max_position_embeddings = "
                        + critic.maxPositions() + ", a sequence may have " + config.maxSequenceLength()
                        + " tokens; lower data.max_response_length, or take a critic for longer sequences");
            }
        } catch (InvalidModelException e) {
            errors.add("Invalid critic.model.path = '" + path + "': " + e.getMessage());
        }
    }

    private void dividesBatch(String key, int miniBatch) {
        int batch = config.data().trainBatchSize();
        if (batch % miniBatch != 0) {
            errors.add("Invalid " + key + " = " + miniBatch + ": it must divide data.train_batch_size = " + batch
                    + "; the nearest that does is " + nearestDivisor(batch, miniBatch));
        }
    }

    private void optimizer(String section, OptimConfig optim, double gradClip) {
        if (optim.lrWarmupSteps() >= 0 && optim.lrWarmupStepsRatio() > 0) {
            errors.add("Invalid " + section + ".optim.lr_warmup_steps_ratio = " + optim.lrWarmupStepsRatio() + ": "
                    + section + ".optim.lr_warmup_steps = " + optim.lrWarmupSteps() + " is set too; keep one of them");
        }
        if (optim.minLrRatio() > 0 && optim.lrSchedulerType().equals("constant")) {
            errors.add("Invalid " + section + ".optim.min_lr_ratio = " + optim.minLrRatio()
                    + ": a constant schedule does not use it; set " + section
                    + ".optim.lr_scheduler_type to cosine or linear");
        }
        if (optim.betas().size() != 2 || optim.betas().stream().anyMatch(beta -> !(beta >= 0 && beta < 1))) {
            errors.add("Invalid " + section + ".optim.betas = " + optim.betas()
                    + ": expected two numbers from 0 to below 1, such as [0.9, 0.999]");
        }
        if (!(optim.eps() > 0)) {
            errors.add("Invalid " + section + ".optim.eps = " + optim.eps() + ": expected above 0, such as 1e-8");
        }
        if (!(gradClip > 0)) {
            errors.add("Invalid " + section + ".grad_clip = " + gradClip + ": expected above 0, such as 1.0");
        }
    }

    private void reward() {
        new RewardModelRules(config, errors).check();
        List<RewardConfig.Function> functions = config.reward().functions();
        RewardConfig.OverlongBuffer overlong = config.reward().rewardKwargs().overlongBufferCfg();
        int longest = config.data().maxResponseLength();
        if (overlong.enable() && (overlong.len() < 1 || overlong.len() > longest)) {
            errors.add("Invalid reward.reward_kwargs.overlong_buffer_cfg.len = " + overlong.len()
                    + ": expected from 1 to data.max_response_length = " + longest);
            return; // the functions cannot be made
        }
        try {
            List<String> names =
                    RewardRegistry.standard().create(config.rewardFunctions()).names();
            filterMetric(names);
            new AlgorithmRules(config, errors).rewardKeys(names);
        } catch (InvalidConfigException e) {
            e.errors().forEach(error -> errors.add("Invalid " + error));
        }
        if (!functions.isEmpty() && functions.stream().allMatch(function -> function.weight() == 0)) {
            errors.add("Invalid reward.functions: every weight is 0, so every reward is; give one of them a weight");
        }
    }

    private void trainer() {
        TrainerConfig trainer = config.trainer();
        runDirectory();
        notZero("trainer.save_freq", trainer.saveFreq());
        notZero("trainer.test_freq", trainer.testFreq());
        if (trainer.testFreq() > 0 && config.data().valFiles().isEmpty()) {
            errors.add("Invalid trainer.test_freq = " + trainer.testFreq()
                    + ": there is nothing to validate on; set data.val_files, or trainer.test_freq=-1");
        }
    }

    /** Checkpoints are written and read as local files. */
    private void runDirectory() {
        String directory = config.trainer().runDirectory();
        try {
            String scheme = new Path(directory).toUri().getScheme();
            if (scheme != null && !scheme.equals("file")) {
                errors.add(
                        "Unsupported trainer.default_local_dir = '" + directory + "': this version writes a run to the"
                                + " local file system only; name a"
                                + " folder that the driver and every"
                                + " executor reach, such as one on a"
                                + " shared mount, without a scheme or"
                                + " with file:");
            }
        } catch (IllegalArgumentException e) {
            errors.add("Invalid trainer.default_local_dir = '" + directory + "': it is no path (" + e.getMessage()
                    + "); name a folder, such as runs/gsm8k");
        }
    }

    private void notZero(String key, int value) {
        if (value == 0) {
            errors.add("Invalid " + key + " = 0: use -1 for never or a number above 0");
        }
    }

    private void exists(String key, String value) {
        try {
            Configuration hadoop = new Configuration();
            config.spark().properties().forEach((name, property) -> {
                if (name.startsWith("spark.hadoop.")) {
                    hadoop.set(name.substring("spark.hadoop.".length()), property);
                }
            });
            Path path = new Path(value);
            FileStatus[] found = path.getFileSystem(hadoop).globStatus(path);
            if (found == null || found.length == 0) {
                errors.add("Invalid " + key + " = '" + value + "': no such file or folder; relative paths start at "
                        + System.getProperty("user.dir"));
            }
        } catch (IOException | IllegalArgumentException e) {
            errors.add("Invalid " + key + " = '" + value + "': it cannot be looked up (" + e.getMessage()
                    + "); check the path and the file system");
        }
    }

    private static int nearestDivisor(int number, int wanted) {
        int best = 1;
        for (int divisor = 1; divisor <= number; divisor++) {
            if (number % divisor == 0 && Math.abs(divisor - wanted) < Math.abs(best - wanted)) {
                best = divisor;
            }
        }
        return best;
    }
}
