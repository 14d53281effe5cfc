package io.bellows.jobs;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.engine.Admission;
import io.bellows.engine.EngineSettings;
import io.bellows.engine.Generation;
import io.bellows.engine.GenerationRequest;
import io.bellows.engine.InferenceEngine;
import io.bellows.engine.SamplingParams;
import io.bellows.model.Kernels;
import io.bellows.model.ModelConfig;
import io.bellows.model.Weights;
import io.bellows.text.SpecialTokens;
import io.bellows.text.StreamingDecoder;
import io.bellows.text.Tokenizer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import java.util.stream.LongStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "generate",
        description = {
            "Lets a model answer.",
            "Prints text; with --json also ids and log-probs, as "
                    + "{\"generations\":[{\"prompt_ids\":[…],\"text\":\"…\",\"ids\":[…],\"logprobs\":[…],\"finish_reason\":\"stop\"}]}."
        })
final class GenerateCommand extends Subcommand {

    private static final int DEFAULT_MAX_TOKENS = 256;

    @Option(names = "--model", required = true, paramLabel = "DIR", description = "Hugging Face folder.")
    private Path model;

    @Mixin
    private PromptOptions prompts;

    @Mixin
    private TemplateOptions template;

    @Option(names = "-n", defaultValue = "1", paramLabel = "N", description = "Samples per prompt (default: 1).")
    private int samples;

    @Option(
            names = "--temperature",
            defaultValue = "0",
            paramLabel = "T",
            description = "0 takes the likeliest token (default: 0).")
    private double temperature;

    @Option(names = "--top-k", defaultValue = "-1", paramLabel = "K", description = "-1 is all (default: -1).")
    private int topK;

    @Option(names = "--top-p", defaultValue = "1", paramLabel = "P", description = "In (0, 1] (default: 1).")
    private double topP;

    @Option(names = "--min-p", defaultValue = "0", paramLabel = "P", description = "In [0, 1] (default: 0).")
    private double minP;

    @Option(
            names = "--max-tokens",
            paramLabel = "N",
            description = "Most tokens of an answer (default: 256, or what the model's positions leave).")
    private Integer maxTokens;

    @Option(names = "--stop", paramLabel = "TEXT", description = "A text that ends an answer; may be repeated.")
    private List<String> stop = new ArrayList<>();

    @Option(names = "--seed", defaultValue = "42", paramLabel = "SEED", description = "Default: ${DEFAULT-VALUE}.")
    private long seed;

    @Option(
            names = "--slots",
            defaultValue = "64",
            paramLabel = "N",
            description = "Sequences decoded at once (default: ${DEFAULT-VALUE}).")
    private int slots;

    @Mixin
    private DeviceOption device;

    @Override
    ObjectNode run(Console console) throws IOException {
        ModelArguments.requireTokenizer(model);
        ModelArguments.requireModel(model);
        if (samples < 1 || slots < 1) {
            throw new UsageException("Invalid -n " + samples + " or --slots " + slots + ": expected at least 1");
        }
        try (Tokenizer tokenizer = Tokenizer.load(model)) {
            int[] stopIds = tokenizer.stopIds();
            int least = maxTokens == null ? 1 : maxTokens;
            sampling(least, stopIds); // what is wrong with the options comes before what is wrong with the prompts
            ModelConfig config = ModelConfig.read(model);
            List<int[]> inputs = prompts.read(
                    tokenizer,
                    () -> template.chat(model, tokenizer),
                    config.vocabularySize(),
                    config.maxPositions(),
                    least);
            return generate(console, tokenizer, requests(inputs, config.maxPositions(), stopIds));
        }
    }

    private SamplingParams sampling(int maxTokens, int[] stopIds) {
        try {
            return new SamplingParams(temperature, topK, topP, minP, maxTokens, stopIds, stop);
        } catch (IllegalArgumentException e) {
            throw new UsageException(e.getMessage());
        }
    }

    /** The seed of a sample depends on its prompt's position and its own, so that more samples leave the others as they were. */
    private List<GenerationRequest> requests(List<int[]> inputs, int positions, int[] stopIds) {
        List<GenerationRequest> requests = new ArrayList<>();
        for (int[] input : inputs) {
            int most = maxTokens == null ? Math.min(DEFAULT_MAX_TOKENS, positions - input.length) : maxTokens;
            long first = seed + 1_000_003L * requests.size();
            requests.add(new GenerationRequest(
                    input,
                    sampling(most, stopIds),
                    LongStream.range(first, first + samples).toArray()));
        }
        return requests;
    }

    private ObjectNode generate(Console console, Tokenizer tokenizer, List<GenerationRequest> requests) {
        int longest = requests.stream()
                .mapToInt(request ->
                        request.promptIds().length + request.sampling().maxTokens())
                .max()
                .orElseThrow();
        int used = Math.min(slots, samples * requests.size());
        EngineSettings settings = new EngineSettings(used, longest, 8192, Admission.CONTINUOUS);
        ObjectNode result = object();
        ArrayNode answers = result.putArray("generations");
        long tokens = 0;
        long start = System.nanoTime();
        try (Kernels kernels = Kernels.load(device.device());
                Weights weights = Weights.load(kernels, model);
                InferenceEngine engine = new InferenceEngine(kernels, weights, settings, () -> decoder(tokenizer))) {
            List<List<CompletableFuture<Generation>>> futures = engine.submitAll(requests);
            for (int i = 0; i < requests.size(); i++) {
                for (CompletableFuture<Generation> future : futures.get(i)) {
                    Generation generation = future.join();
                    tokens += generation.ids().length;
                    answers.add(show(console, tokenizer, requests.get(i).promptIds(), generation));
                }
            }
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        console.warn(String.format(Locale.ROOT, "%d tokens in %.1f s, model load included", tokens, seconds));
        return result.put("tokens", tokens).put("seconds", seconds);
    }

    private static IntFunction<String> decoder(Tokenizer tokenizer) {
        return new StreamingDecoder(tokenizer, SpecialTokens.KEEP)::push;
    }

    private static ObjectNode show(Console console, Tokenizer tokenizer, int[] prompt, Generation generation) {
        String text = tokenizer.decode(generation.ids(), SpecialTokens.SKIP);
        console.say(text);
        ObjectNode answer = object();
        TokenIds.put(answer, "prompt_ids", prompt);
        answer.put("text", text);
        TokenIds.put(answer, "ids", generation.ids());
        TokenIds.put(answer, "logprobs", generation.logProbs(), 0, generation.logProbs().length);
        return answer.put("finish_reason", generation.finishReason().name().toLowerCase(Locale.ROOT));
    }
}
