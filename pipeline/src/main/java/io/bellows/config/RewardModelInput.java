package io.bellows.config;

import io.bellows.model.ModelConfig;
import io.bellows.text.Tokenizer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What a reward model is given of a trajectory. */
public enum RewardModelInput {

    /** The ids that the policy was given and sampled: they mean the same to the reward model. */
    POLICY_IDS,

    /** The messages, by the reward model's own chat template and tokenizer. */
    TEXT;

    /**
     * What a reward model can read, decided by ids: what both tokenizers call them, and what they encode texts to.
     *
     * @param rewardModel folder of the reward model
     * @param policy folder of the policy
     * @throws IOException if a file is missing or damaged
     */
    public static RewardModelInput of(Path rewardModel, Path policy) throws IOException {
        return Tokenizer.readsIdsOf(rewardModel, policy) && hasRoomForIds(rewardModel, policy) ? POLICY_IDS : TEXT;
    }

    /** The policy may sample any id that its embedding has, not only those of its tokenizer. */
    private static boolean hasRoomForIds(Path rewardModel, Path policy) throws IOException {
        return !Files.exists(policy.resolve("config.json")) // its ids are a server's
                || ModelConfig.read(rewardModel).vocabularySize()
                        >= ModelConfig.read(policy).vocabularySize();
    }
}
