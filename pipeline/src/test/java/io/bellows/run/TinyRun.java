package io.bellows.run;

import io.bellows.config.BellowsConfig;
import io.bellows.model.GoldenModel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Whole runs on a tiny random Qwen2, which take seconds. */
final class TinyRun {

    private TinyRun() {}

    /**
     * Two deterministic iterations on problems in words; some responses have four vowels, which is their reward.
     *
     * @param folder the run directory
     * @param overrides {@code key=value}, which win
     */
    static BellowsConfig config(Path folder, List<String> overrides) {
        List<String> all = new ArrayList<>(List.of(
                "data.train_files=" + GoldenModel.path("/data/gsm8k/test.jsonl"),
                "data.max_prompt_length=200",
                "data.max_response_length=12",
                "data.filter_overlong_prompts=true",
                "model.path=" + GoldenModel.named("qwen2").folder(),
                "rollout.n=3",
                "rollout.max_num_seqs=8",
                "actor.optim.lr=0.001",
                "reward.functions=[{name: format_match, pattern: '([aeiou].*){4}'}]",
                "trainer.total_training_steps=2",
                "trainer.deterministic=true",
                "trainer.default_local_dir=" + folder));
        all.addAll(overrides);
        return BellowsConfig.load(null, all);
    }

    /** Overrides, and more that win. */
    static List<String> with(List<String> overrides, String... more) {
        List<String> all = new ArrayList<>(overrides);
        all.addAll(Arrays.asList(more));
        return all;
    }
}
