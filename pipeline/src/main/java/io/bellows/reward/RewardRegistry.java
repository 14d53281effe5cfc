package io.bellows.reward;

import io.bellows.config.InvalidConfigException;
import io.bellows.config.RewardConfig;
import io.bellows.udfs.reward.AnswerPlace;
import io.bellows.udfs.reward.ExactMatch;
import io.bellows.udfs.reward.FormatMatch;
import io.bellows.udfs.reward.LengthPenalty;
import io.bellows.udfs.reward.MajorityMatch;
import io.bellows.udfs.reward.MathMatch;
import io.bellows.udfs.reward.NumberMatch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;

/** The reward functions that {@code reward.functions} can name. */
public final class RewardRegistry {

    private static final String TIMEOUT = "process_timeout_s";
    private static final String MEMORY = "process_memory_mb";
    private static final int DEFAULT_MEMORY_MB = 256;
    private static final int LEAST_MEMORY_MB = 16;

    private final SortedMap<String, RewardFactory> factories = new TreeMap<>();

    private RewardRegistry() {}

    /**
     * The built-in functions, and those that jars on the class path declare.
     *
     * <ul>
     *   <li>{@code exact_match}: answer (auto, hash, boxed, whole; default auto), letter_case (keep, ignore)
     *   <li>{@code number_match}: answer (auto, hash, boxed, last, whole), tolerance (absolute, default 0)
     *   <li>{@code math_match}: answer (auto, hash, boxed, whole; default auto)
     *   <li>{@code majority_match}: answer (auto, hash, boxed, whole; default auto); of a group
     *   <li>{@code format_match}: pattern (RE2), coverage (find, full; default find)
     *   <li>{@code length}: max_length, buffer (tokens)
     *   <li>{@code reward_model}: what the model of {@code reward_model.model.path} says
     * </ul>
     */
    public static RewardRegistry standard() {
        RewardRegistry registry = new RewardRegistry();
        registry.add("exact_match", RewardRegistry::exactMatch);
        registry.add("number_match", RewardRegistry::numberMatch);
        registry.add("math_match", RewardRegistry::mathMatch);
        registry.add("majority_match", options -> majorityMatch(new MajorityMatch(textPlace(options))));
        registry.add("format_match", RewardRegistry::formatMatch);
        registry.add("length", RewardRegistry::length);
        registry.add(RewardConfig.REWARD_MODEL, options -> RewardRegistry::modelScore);
        ServiceLoader.load(RewardFactory.class).forEach(registry::add);
        return registry;
    }

    /** Every name, sorted. */
    public List<String> names() {
        return List.copyOf(factories.keySet());
    }

    /**
     * The weighted sum that a configuration describes. The option {@code as} records a function under another name;
     * {@code process_timeout_s} runs it in a process of its own, which is killed when a trajectory takes longer, with a Java heap of {@code
     * process_memory_mb}.
     *
     * @param functions the terms of the sum, in order
     * @throws InvalidConfigException with every error of every function
     */
    public WeightedRewards create(List<RewardConfig.Function> functions) {
        List<String> errors = new ArrayList<>();
        List<WeightedRewards.Term> terms = new ArrayList<>();
        for (int i = 0; i < functions.size(); i++) {
            try {
                terms.add(term(functions.get(i)));
            } catch (IllegalArgumentException e) {
                errors.add("reward.functions[" + i + "]: " + e.getMessage());
            }
        }
        if (errors.isEmpty()) {
            try {
                return new WeightedRewards(terms);
            } catch (IllegalArgumentException e) {
                errors.add("reward.functions: " + e.getMessage());
            }
        }
        throw new InvalidConfigException(errors);
    }

    private WeightedRewards.Term term(RewardConfig.Function function) {
        RewardFactory factory = factory(function.name());
        RewardOptions options = new RewardOptions(function.options());
        RewardFunction made = factory.create(options);
        String name = options.text("as", function.name());
        double timeout = options.number(TIMEOUT, 0);
        double memory = options.number(MEMORY, 0);
        if (!options.unknown().isEmpty()) {
            throw new IllegalArgumentException(
                    "Unsupported options " + options.unknown() + " of " + function.name() + ": remove them");
        }
        boolean isolated = function.options().containsKey(TIMEOUT);
        if (!isolated && function.options().containsKey(MEMORY)) {
            throw new IllegalArgumentException("Invalid " + MEMORY + "=" + memory + ": only a function with " + TIMEOUT
                    + " has a process of its own; set that, or remove this");
        }
        return new WeightedRewards.Term(
                name,
                function.weight(),
                isolated ? isolated(factory, function.options(), made, timeout, memory) : made);
    }

    private static RewardFunction isolated(
            RewardFactory factory, Map<String, Object> options, RewardFunction made, double timeout, double memory) {
        if (made instanceof GroupRewardFunction) {
            throw new IllegalArgumentException("Unsupported " + TIMEOUT + " of " + factory.name()
                    + ": a function that compares the samples of a prompt runs in the executor; remove it");
        }
        if (timeout < 0.001 || timeout > 86_400) {
            throw new IllegalArgumentException(
                    "Invalid " + TIMEOUT + "=" + timeout + ": expected seconds, from 0.001 to 86400");
        }
        double heap = options.containsKey(MEMORY) ? memory : DEFAULT_MEMORY_MB;
        if (heap < LEAST_MEMORY_MB || heap > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(
                    "Invalid " + MEMORY + "=" + heap + ": expected MiB, " + LEAST_MEMORY_MB + " or more");
        }
        Map<String, Object> own = new LinkedHashMap<>(options);
        own.keySet().removeAll(List.of("as", TIMEOUT, MEMORY));
        return new ProcessReward(factory, own, Duration.ofMillis((long) (1000 * timeout)), (int) heap);
    }

    /**
     * The factory of a name.
     *
     * @throws IllegalArgumentException if there is none
     */
    RewardFactory factory(String name) {
        RewardFactory factory = name == null ? null : factories.get(name);
        if (factory == null) {
            throw new IllegalArgumentException(
                    "Unsupported reward function '" + name + "': expected one of " + names());
        }
        return factory;
    }

    private static RewardFunction exactMatch(RewardOptions options) {
        ExactMatch match =
                new ExactMatch(textPlace(options), options.choice("letter_case", ExactMatch.LetterCase.KEEP));
        return new ReferenceReward(match::score);
    }

    private static RewardFunction mathMatch(RewardOptions options) {
        return new ReferenceReward(new MathMatch(textPlace(options))::score);
    }

    private static GroupRewardFunction majorityMatch(MajorityMatch match) {
        return group -> Arrays.stream(
                        match.scores(group.stream().map(RewardInput::response).toList()))
                .mapToObj(
                        score -> Double.isNaN(score) ? RewardOutcome.unscored("no response") : RewardOutcome.of(score))
                .toList();
    }

    private static AnswerPlace textPlace(RewardOptions options) {
        AnswerPlace place = options.choice("answer", AnswerPlace.AUTO);
        if (place == AnswerPlace.LAST) {
            throw new IllegalArgumentException("Invalid answer=last: only number_match looks for the last number");
        }
        return place;
    }

    private static RewardFunction numberMatch(RewardOptions options) {
        double tolerance = options.number("tolerance", 0);
        if (tolerance < 0) {
            throw new IllegalArgumentException("Invalid tolerance=" + tolerance + ": expected 0 or more");
        }
        NumberMatch match = new NumberMatch(options.choice("answer", AnswerPlace.AUTO), tolerance);
        return new ReferenceReward(match::score);
    }

    private static RewardFunction formatMatch(RewardOptions options) {
        FormatMatch match =
                new FormatMatch(options.text("pattern"), options.choice("coverage", FormatMatch.Coverage.FIND));
        return input -> input.response() == null
                ? RewardOutcome.unscored("no response")
                : RewardOutcome.of(match.score(input.response()));
    }

    private static RewardFunction length(RewardOptions options) {
        LengthPenalty penalty = new LengthPenalty(options.integer("max_length"), options.integer("buffer"));
        return input -> input.response() == null
                ? RewardOutcome.unscored("no response")
                : RewardOutcome.of(penalty.score(input.responseTokens()));
    }

    private static RewardOutcome modelScore(RewardInput input) {
        return input.modelScore() == null
                ? RewardOutcome.unscored("the reward model was not asked")
                : RewardOutcome.of(input.modelScore());
    }

    private void add(String name, Function<RewardOptions, RewardFunction> create) {
        add(new RewardFactory() {
            @Override
            public String name() {
                return name;
            }

            @Override
            public RewardFunction create(RewardOptions options) {
                return create.apply(options);
            }
        });
    }

    private void add(RewardFactory factory) {
        if (factories.putIfAbsent(factory.name(), factory) != null) {
            throw new IllegalArgumentException("Invalid reward function '" + factory.name()
                    + "': two of that name are on the class path; rename one");
        }
    }
}
