package io.bellows.config;

import java.io.Serializable;

/** Section {@code algorithm.filter_groups}: dynamic sampling (DAPO, Yu et al., arXiv 2503.14476). */
public record FilterGroupsConfig(
        @Setting(
                value = "false",
                about = "Leave out groups whose samples are all equally good, and sample others instead")
        boolean enable,

        @Setting(
                value = "acc",
                about =
                        "What tells samples apart: acc (the first reward function), score (the weighted sum of all), or a"
                                + " reward function by name")
        String metric,

        @Setting(
                value = "10",
                min = 1,
                about = "Bound on the prompts of an iteration, in multiples of data.gen_batch_size")
        int maxNumGenBatches,

        @Setting(
                value = "false",
                about = "Learn from surplus groups in the next iteration; false: they are counted and left out")
        boolean carryOver)
        implements Serializable {}
