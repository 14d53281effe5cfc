package io.bellows.config;

import io.bellows.model.Head;
import io.bellows.model.InvalidModelException;
import io.bellows.model.ModelConfig;
import io.bellows.model.Weights;
import io.bellows.text.ChatTemplate;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;

/** The rules of {@code reward_model}. */
final class RewardModelRules {

    private static final String PATH = "reward_model.model.path";

    private final BellowsConfig config;
    private final Errors errors;

    RewardModelRules(BellowsConfig config, Errors errors) {
        this.config = config;
        this.errors = errors;
    }

    void check() {
        boolean enabled = config.rewardModel().enable();
        boolean read = config.reward().functions().stream()
                .anyMatch(function -> RewardConfig.REWARD_MODEL.equals(function.name()));
        if (enabled && !read) {
            errors.add("Invalid reward_model.enable = true: no reward function reads what the model says; add"
                    + " {name: reward_model} to reward.functions");
        }
        if (!enabled && read) {
            errors.add("Invalid reward.functions: reward_model has no model to ask; set reward_model.enable=true and "
                    + PATH);
        }
        if (enabled) {
            new MicroBatchRules(config, errors).ofRewardModel();
            model(config.rewardModel().model().path());
        }
    }

    private void model(String path) {
        String policy = config.model().path();
        if (path == null || !new File(path).isDirectory()) {
            errors.add("Invalid " + PATH + " = " + (path == null ? "null" : "'" + path + "'")
                    + ": name the Hugging Face folder of the reward model; relative paths start at "
                    + System.getProperty("user.dir"));
            return;
        }
        try {
            Path folder = Path.of(path);
            Weights.check(folder, Head.SCORE);
            ModelConfig shape = ModelConfig.read(folder);
            if (config.maxSequenceLength() > shape.maxPositions()) {
                errors.add("Invalid " + PATH + " = '" + path + "': it holds max_position_embeddings = "
                        + shape.maxPositions() + ", a sequence may have " + config.maxSequenceLength()
                        + " tokens; lower data.max_response_length, or take a model for longer sequences");
            }
            if (policy != null
                    && new File(policy).isDirectory()
                    && RewardModelInput.of(folder, Path.of(policy)) == RewardModelInput.TEXT) {
                ChatTemplate.load(folder);
            }
        } catch (InvalidModelException | IOException e) {
            errors.add("Invalid " + PATH + " = '" + path + "': " + e.getMessage());
        }
    }
}
