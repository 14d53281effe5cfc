package io.bellows.jobs;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.model.Decoder;
import io.bellows.model.Kernels;
import io.bellows.model.ModelConfig;
import io.bellows.model.PackedSequences;
import io.bellows.model.PackedSequences.Sequence;
import io.bellows.model.TokenScores;
import io.bellows.model.Weights;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "logprobs",
        description = {
            "Scores token ids, as JSON lines.",
            "In:  {\"ids\":[…]}",
            "Out: {\"logprobs\":[…],\"entropy\":[…]} in order: entry t is log p(ids[t+1] | ids[0..t]) and the entropy of "
                    + "that distribution, in nats. A line that cannot be scored gives {\"error\":\"…\"} and exit code 1."
        })
final class LogProbsCommand extends Subcommand {

    private static final int BATCH_TOKENS = 4096;

    @Option(names = "--model", required = true, paramLabel = "DIR", description = "Hugging Face folder.")
    private Path model;

    @Option(
            names = "--input",
            defaultValue = "-",
            paramLabel = "FILE",
            description = "JSON lines (default: -, which is standard input).")
    private Path input;

    @Option(
            names = "--temperature",
            defaultValue = "1.0",
            paramLabel = "T",
            description = "Divides the logits; positive (default: ${DEFAULT-VALUE}).")
    private double temperature;

    @Mixin
    private DeviceOption device;

    /** A line read: its ids, or what is wrong with it. */
    private record Row(int[] ids, String error) {
        int scored() {
            return ids == null ? 0 : Math.max(0, ids.length - 1);
        }
    }

    @Override
    ObjectNode run(Console console) throws IOException {
        ModelArguments.requireModel(model);
        if (!(temperature > 0) || Double.isInfinite(temperature)) {
            throw new UsageException("Invalid --temperature " + temperature + ": must be positive");
        }
        int rows = 0;
        int errors = 0;
        try (JsonLines lines = JsonLines.open(input);
                Kernels kernels = Kernels.load(device.device());
                Weights weights = Weights.load(kernels, model);
                Decoder decoder =
                        new Decoder(kernels, weights.config(), weights.config().maxPositions())) {
            List<Row> batch = new ArrayList<>();
            int tokens = 0;
            while (lines.next()) {
                Row row = read(lines, weights.config());
                int length = row.ids() == null ? 0 : row.ids().length;
                if (tokens + length > BATCH_TOKENS && !batch.isEmpty()) {
                    write(console, batch, decoder, weights);
                    batch.clear();
                    tokens = 0;
                }
                batch.add(row);
                tokens += length;
                rows++;
                errors += row.error() == null ? 0 : 1;
            }
            write(console, batch, decoder, weights);
        }
        return object().put("rows", rows).put("errors", errors);
    }

    @Override
    int exitCode(ObjectNode result) {
        return result.get("errors").asInt() == 0 ? ExitCode.OK : ExitCode.SOFTWARE;
    }

    private static Row read(JsonLines lines, ModelConfig config) {
        try {
            return new Row(ids(lines, config), null);
        } catch (IllegalArgumentException e) {
            return new Row(null, lines.place() + ": " + e.getMessage());
        }
    }

    private static int[] ids(JsonLines lines, ModelConfig config) {
        int[] ids = TokenIds.read(lines.object().get("ids"), config.vocabularySize());
        if (ids.length > config.maxPositions()) {
            throw new IllegalArgumentException("Invalid row: " + ids.length
                    + " ids exceed the model's max_position_embeddings, " + config.maxPositions());
        }
        return ids;
    }

    private void write(Console console, List<Row> batch, Decoder decoder, Weights weights) {
        List<Sequence> sequences = batch.stream()
                .filter(row -> row.scored() > 0)
                .map(row -> new Sequence(row.ids(), 1))
                .toList();
        TokenScores scores = sequences.isEmpty()
                ? new TokenScores(new float[0], new float[0], null)
                : decoder.score(weights, PackedSequences.of(sequences), temperature);
        int at = 0;
        for (Row row : batch) {
            ObjectNode answer = object();
            if (row.error() != null) {
                answer.put("error", row.error());
            } else {
                TokenIds.put(answer, "logprobs", scores.logProbs(), at, row.scored());
                TokenIds.put(answer, "entropy", scores.entropies(), at, row.scored());
            }
            at += row.scored();
            console.data(answer.toString());
        }
    }
}
