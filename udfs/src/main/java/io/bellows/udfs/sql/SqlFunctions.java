package io.bellows.udfs.sql;

import io.bellows.udfs.sql.SqlFunction.Parameter;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;

/** Every function that {@link io.bellows.udfs.BellowsExtensions} registers. */
public final class SqlFunctions {

    private static final DataType DOUBLES = DataTypes.createArrayType(DataTypes.DoubleType, true);
    private static final DataType INTS = DataTypes.createArrayType(DataTypes.IntegerType, true);
    private static final DataType ARRAYS = DataTypes.createArrayType(DOUBLES, true);
    private static final DataType MASKS = DataTypes.createArrayType(INTS, true);

    private static final Parameter SCORES = parameter(
            "scores", DOUBLES, "one score per sample of a prompt; null for one that failed, which is then absent");
    private static final Parameter NORM_BY_STD = new Parameter(
            "norm_by_std", DataTypes.BooleanType, "whether to divide by the standard deviation; default true", true);
    private static final Parameter TOKEN_REWARDS = parameter("token_rewards", DOUBLES, "reward by token");
    private static final Parameter VALUES = parameter("values", DOUBLES, "numbers by token");
    private static final Parameter CRITIC = parameter("values", DOUBLES, "values of a critic by token");
    private static final Parameter MASK = parameter("mask", INTS, "1 for a sampled token; others count nowhere");
    private static final Parameter GAMMA =
            new Parameter("gamma", DataTypes.DoubleType, "discount of later rewards; default 1", 1.0);
    private static final Parameter LAM =
            new Parameter("lam", DataTypes.DoubleType, "weight of longer look-ahead; default 1", 1.0);
    private static final Parameter KIND = new Parameter(
            "kind",
            DataTypes.StringType,
            "kl or k1, abs, mse or k2, low_var_kl or k3, each also with +; default kl",
            "kl");
    private static final Parameter RESPONSE = parameter("response", DataTypes.StringType, "the text to judge");
    private static final Parameter TRUTH = parameter("ground_truth", DataTypes.StringType, "the reference answer");
    private static final Parameter ANSWER = new Parameter(
            "answer",
            DataTypes.StringType,
            "where the answer stands: auto, hash (after ####), boxed, last (the last number) or whole; default auto",
            "auto");
    private static final Parameter TOLERANCE = new Parameter(
            "tolerance", DataTypes.DoubleType, "largest difference of numbers that are the same; default 0", 0.0);
    private static final Parameter LETTER_CASE =
            new Parameter("letter_case", DataTypes.StringType, "keep or ignore; default keep", "keep");
    private static final Parameter COVERAGE = new Parameter(
            "coverage",
            DataTypes.StringType,
            "find (the pattern is somewhere) or full (it is all of the response); default find",
            "find");
    private static final List<Parameter> GROUP_OF_TOKENS = List.of(
            parameter("token_rewards", ARRAYS, "for each sample of a prompt, reward by token"),
            parameter("masks", MASKS, "for each sample, 1 for a sampled token"),
            parameter("log_probs", ARRAYS, "for each sample, log-probability by token"),
            parameter("squared_probabilities", ARRAYS, "for each sample, sum of squared probabilities by token"));

    private SqlFunctions() {}

    /** The functions, by what they are about. */
    public static List<SqlFunction> all() {
        return Stream.of(ofGroups(), ofTokens(), rewards(), divergences(), statistics())
                .flatMap(List::stream)
                .toList();
    }

    private static List<SqlFunction> ofGroups() {
        return List.of(
                advantage(
                        "grpo_advantage",
                        "GRPO: distance from the group's mean in standard deviations; Dr. GRPO without norm_by_std",
                        List.of(SCORES, NORM_BY_STD),
                        "grpo",
                        "grpo_advantage(array(1, 0, null, 1, 0), false)",
                        "[0.5,-0.5,0.0,0.5,-0.5]"),
                advantage(
                        "grpo_passk_advantage",
                        "GRPO for pass@k: the lead of the best sample, for that sample alone",
                        List.of(SCORES, NORM_BY_STD),
                        "grpoPassK",
                        "grpo_passk_advantage(array(1, 0.25, 0), false)",
                        "[0.75,0.0,0.0]"),
                advantage(
                        "rloo_advantage",
                        "RLOO: distance from the mean of the other samples",
                        List.of(SCORES),
                        "rloo",
                        "rloo_advantage(array(1, 0))",
                        "[1.0,-1.0]"),
                advantage(
                        "opo_advantage",
                        "OPO: distance from the mean weighted by length",
                        List.of(SCORES, parameter("lengths", DOUBLES, "sampled tokens of each")),
                        "opo",
                        "opo_advantage(array(1, 0), array(3, 1))",
                        "[0.25,-0.75]"),
                advantage(
                        "gpg_advantage",
                        "GPG: distance from the mean, times the samples of the batch over those whose score is not 0",
                        List.of(SCORES, new Parameter("scale", DataTypes.DoubleType, "that factor; default 1", 1.0)),
                        "gpg",
                        "gpg_advantage(array(1, 0), 2)",
                        "[1.0,-1.0]"),
                advantage(
                        "reinforce_plus_plus_baseline_advantage",
                        "REINFORCE++ with baseline, before whitening: distance from the mean; whiten all tokens with masked_whiten",
                        List.of(SCORES),
                        "reinforcePlusPlusBaseline",
                        "reinforce_plus_plus_baseline_advantage(array(1, 0))",
                        "[0.5,-0.5]"),
                advantage(
                        "gdpo_advantage",
                        "GDPO, before whitening: the weighted sum of the GRPO advantages of several rewards",
                        List.of(
                                parameter("rewards", ARRAYS, "for each sample of a prompt, its rewards"),
                                parameter("weights", DOUBLES, "one factor per reward"),
                                NORM_BY_STD),
                        "gdpo",
                        "gdpo_advantage(array(array(1, 10), array(0, 30)), array(1, 0.1), false)",
                        "[-0.5,0.5]"),
                groupOfTokens(
                        "optimal_token_baseline_advantage",
                        "optimalTokenBaseline",
                        "Optimal token baseline: return less the group's weighted mean return at the same position"),
                groupOfTokens(
                        "tir_optimal_token_baseline_advantage",
                        "tirOptimalTokenBaseline",
                        "Optimal token baseline for several turns: return less the group's weighted mean return after as many sampled tokens"));
    }

    private static List<SqlFunction> ofTokens() {
        return List.of(
                advantage(
                        "gae_advantage",
                        "Generalized advantage estimation, before whitening; whiten all tokens with masked_whiten",
                        List.of(TOKEN_REWARDS, CRITIC, MASK, GAMMA, LAM),
                        "gaeAdvantage",
                        "gae_advantage(array(0, 0, 1), array(0.5, 9, 0.5), array(1, 0, 1), 1, 1)",
                        "[0.5,0.0,0.5]"),
                advantage(
                        "gae_return",
                        "Returns of generalized advantage estimation, which a critic learns",
                        List.of(TOKEN_REWARDS, CRITIC, MASK, GAMMA, LAM),
                        "gaeReturn",
                        "gae_return(array(0, 0, 1), array(0.5, 9, 0.5), array(1, 0, 1), 1, 1)",
                        "[1.0,0.0,1.0]"),
                advantage(
                        "reinforce_plus_plus_advantage",
                        "REINFORCE++, before whitening: the discounted return",
                        List.of(TOKEN_REWARDS, MASK, GAMMA),
                        "reinforcePlusPlus",
                        "reinforce_plus_plus_advantage(array(0, 0, 1), array(1, 0, 1), 0.5)",
                        "[0.5,0.0,1.0]"),
                advantage(
                        "remax_advantage",
                        "ReMax: the return less the score of a greedy response",
                        List.of(
                                TOKEN_REWARDS,
                                MASK,
                                parameter("baseline", DataTypes.DoubleType, "score of the greedy response")),
                        "remax",
                        "remax_advantage(array(0, 1), array(1, 1), 0.25)",
                        "[0.75,0.75]"));
    }

    private static List<SqlFunction> rewards() {
        return List.of(
                reward(
                        "number_match",
                        "1 when the final answer is the number of the reference answer, else 0; null where that is no number",
                        List.of(RESPONSE, TRUTH, ANSWER, TOLERANCE),
                        "numberMatch",
                        "number_match('3 + 4 = 7\\n#### 7.0', '7')",
                        "1.0"),
                reward(
                        "exact_match",
                        "1 when the answer is the reference answer, but for white space, else 0",
                        List.of(RESPONSE, TRUTH, ANSWER, LETTER_CASE),
                        "exactMatch",
                        "exact_match('I say #### North', 'north', 'hash', 'ignore')",
                        "1.0"),
                reward(
                        "math_match",
                        "1 when the answer means the same as the reference answer in simple mathematics, LaTeX or plain, else 0",
                        List.of(RESPONSE, TRUTH, ANSWER),
                        "mathMatch",
                        "math_match('so x = \\\\boxed{\\\\frac12}', '0.5', 'boxed')",
                        "1.0"),
                new SqlFunction(
                        "majority_match",
                        "1 for the responses to one prompt whose answer is the one that most of them give (TTRL), else 0",
                        List.of(
                                parameter(
                                        "responses",
                                        DataTypes.createArrayType(DataTypes.StringType, true),
                                        "the responses to one prompt; a null has no vote and no score"),
                                ANSWER),
                        DOUBLES,
                        RewardFunctions.class,
                        "majorityMatch",
                        "majority_match(array('#### 0.5', '#### 2', '#### 1/2', null))",
                        "[1.0,0.0,1.0,null]"),
                reward(
                        "format_match",
                        "1 when a response has the form of a regular expression, else 0, in linear time",
                        List.of(RESPONSE, parameter("pattern", DataTypes.StringType, "in RE2 syntax"), COVERAGE),
                        "formatMatch",
                        "format_match('so #### 7', '#### [0-9]+', 'full')",
                        "0.0"),
                reward(
                        "length_reward",
                        "0 for short responses, falling to -1 over the last tokens before the longest allowed (DAPO)",
                        List.of(
                                parameter("tokens", DataTypes.IntegerType, "sampled tokens"),
                                parameter("max_length", DataTypes.IntegerType, "tokens at which it is -1"),
                                parameter("buffer", DataTypes.IntegerType, "how many tokens before that it starts")),
                        "lengthReward",
                        "length_reward(85, 100, 20)",
                        "-0.25"));
    }

    private static List<SqlFunction> divergences() {
        return List.of(
                new SqlFunction(
                        "kl_penalty",
                        "Estimate of the divergence from a reference policy on one token",
                        List.of(
                                parameter("log_prob", DataTypes.DoubleType, "log-probability under the policy"),
                                parameter("ref_log_prob", DataTypes.DoubleType, "log-probability under the reference"),
                                KIND),
                        DataTypes.DoubleType,
                        StatisticFunctions.class,
                        "klPenalty",
                        "kl_penalty(-1, -2, 'k2')",
                        "0.5"),
                new SqlFunction(
                        "kl_penalties",
                        "Estimates of the divergence from a reference policy by token",
                        List.of(
                                parameter("log_probs", DOUBLES, "log-probabilities under the policy"),
                                parameter("ref_log_probs", DOUBLES, "log-probabilities under the reference"),
                                KIND),
                        DOUBLES,
                        StatisticFunctions.class,
                        "klPenalties",
                        "kl_penalties(array(-1, -2), array(-2, -2))",
                        "[1.0,0.0]"));
    }

    private static List<SqlFunction> statistics() {
        return List.of(
                statistic(
                        "masked_sum",
                        "Sum over the sampled tokens",
                        "maskedSum",
                        "masked_sum(array(1, 2, 3), array(1, 0, 1))",
                        "4.0"),
                statistic(
                        "masked_mean",
                        "Mean over the sampled tokens, 0 without any",
                        "maskedMean",
                        "masked_mean(array(1, 2, 3), array(1, 0, 1))",
                        "2.0"),
                statistic(
                        "masked_var",
                        "Unbiased variance over the sampled tokens, 0 with fewer than two",
                        "maskedVar",
                        "masked_var(array(1, 2, 3), array(1, 0, 1))",
                        "2.0"),
                new SqlFunction(
                        "masked_whiten",
                        "Shifted and scaled to mean 0 and variance 1 over the sampled tokens; 0 elsewhere",
                        List.of(VALUES, MASK),
                        DOUBLES,
                        StatisticFunctions.class,
                        "maskedWhiten",
                        "transform(masked_whiten(array(1, 2, 3), array(1, 0, 1)), x -> round(x, 4))",
                        "[-0.7071,0.0,0.7071]"),
                new SqlFunction(
                        "explained_variance",
                        "Share of the variance of the returns that a critic explains; null without two sampled tokens",
                        List.of(parameter("returns", DOUBLES, "returns by token"), CRITIC, MASK),
                        DataTypes.DoubleType,
                        StatisticFunctions.class,
                        "explainedVariance",
                        "explained_variance(array(1, 2, 3), array(1, 2, 3), array(1, 1, 1))",
                        "1.0"),
                new SqlFunction(
                        "pass_at_k",
                        "Unbiased estimate of the chance that one of k samples is right",
                        List.of(
                                parameter("samples", DataTypes.IntegerType, "samples that were drawn"),
                                parameter("correct", DataTypes.IntegerType, "how many of them are right"),
                                parameter("k", DataTypes.IntegerType, "at most samples")),
                        DataTypes.DoubleType,
                        StatisticFunctions.class,
                        "passAtK",
                        "pass_at_k(4, 1, 2)",
                        "0.5"));
    }

    private static SqlFunction advantage(
            String name, String usage, List<Parameter> parameters, String method, String example, String result) {
        return new SqlFunction(name, usage, parameters, DOUBLES, AdvantageFunctions.class, method, example, result);
    }

    private static SqlFunction reward(
            String name, String usage, List<Parameter> parameters, String method, String example, String result) {
        return new SqlFunction(
                name, usage, parameters, DataTypes.DoubleType, RewardFunctions.class, method, example, result);
    }

    private static SqlFunction groupOfTokens(String name, String method, String usage) {
        return new SqlFunction(
                name,
                usage,
                GROUP_OF_TOKENS,
                ARRAYS,
                AdvantageFunctions.class,
                method,
                "transform(" + name + "(array(array(0, 1), array(0, 0)), array(array(1, 1), array(1, 1)),"
                        + " array(array(0, 0), array(0, 0)), array(array(2, 2), array(2, 2))), a -> round(a[1], 4))",
                "[0.5,-0.5]");
    }

    private static SqlFunction statistic(String name, String usage, String method, String example, String result) {
        return new SqlFunction(
                name,
                usage,
                List.of(VALUES, MASK),
                DataTypes.DoubleType,
                StatisticFunctions.class,
                method,
                example,
                result);
    }

    private static Parameter parameter(String name, DataType type, String about) {
        return new Parameter(name, type, about, null);
    }
}
