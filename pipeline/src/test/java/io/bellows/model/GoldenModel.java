package io.bellows.model;

import ai.djl.Device;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** A tiny model with reference values computed by Hugging Face transformers. */
public record GoldenModel(Path folder, JsonNode values) {

    /** All of them. */
    public static Stream<String> names() {
        return Stream.of("qwen2", "qwen2_bf16", "qwen3", "llama", "mistral", "mistral_swa");
    }

    public static GoldenModel named(String name) {
        return new GoldenModel(path("/golden/models/" + name), json("/golden/model_" + name + ".json"));
    }

    public static Path path(String resource) {
        try {
            return Path.of(GoldenModel.class.getResource(resource).toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    public static JsonNode json(String resource) {
        try (InputStream in = GoldenModel.class.getResourceAsStream(resource)) {
            return new ObjectMapper().readTree(in);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Saves the same decoder as a reward model whose score is the logit that it gives a token. */
    public void saveRewardModel(Path target, int token) {
        try (Kernels kernels = Kernels.load(Device.cpu());
                Weights policy = Weights.load(kernels, folder);
                Weights scoring = Weights.load(kernels, folder, Head.VALUE, ComputeType.FLOAT32)) {
            scoring.parameters()
                    .get("score.weight")
                    .set(policy.masterHead().get(token).toFloatArray());
            ModelFolder.saveCritic(folder, target, scoring);
        }
    }

    /** The logit of a token, one of the first 64, at the end of each row of which it is known. */
    public Map<Integer, Double> lastLogits(String side, int token) {
        Map<Integer, Double> logits = new TreeMap<>();
        for (JsonNode last : values.path(side).path("last_logits")) {
            JsonNode known = last.has("logits") ? last.path("logits") : last.path("first64");
            logits.put(last.path("row").asInt(), known.get(token).asDouble());
        }
        return logits;
    }

    /** The token ids of each row without its padding. */
    public List<int[]> rows(String side) {
        List<int[]> rows = new ArrayList<>();
        JsonNode batch = values.path(side);
        for (int i = 0; i < batch.path("input_ids").size(); i++) {
            List<Integer> ids = new ArrayList<>();
            for (int t = 0; t < batch.path("input_ids").get(i).size(); t++) {
                if (batch.path("attention_mask").get(i).get(t).asInt() == 1) {
                    ids.add(batch.path("input_ids").get(i).get(t).asInt());
                }
            }
            rows.add(ids.stream().mapToInt(Integer::intValue).toArray());
        }
        return rows;
    }

    /** The non-null entries of row {@code i} of a per-token table. */
    public List<Double> tokens(String side, String table, int i) {
        List<Double> out = new ArrayList<>();
        values.path(side).path(table).get(i).forEach(v -> {
            if (!v.isNull()) {
                out.add(v.asDouble());
            }
        });
        return out;
    }
}
