package io.bellows.model;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.djl.Device;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A model folder damaged in every way we could think of: each an error that says where and what, never a crash. */
class DamagedModelTest {

    private static final String CONFIG = "config.json";
    private static final String WEIGHTS = "model.safetensors";
    private static final String INDEX = "model.safetensors.index.json";
    private static final String SECOND = "model-00002-of-00002.safetensors";
    private static final String NORM = "model.norm.weight";
    private static final String EMBEDDING = "model.embed_tokens.weight";
    private static final String QUERY = "model.layers.1.self_attn.q_proj.weight";

    private static Kernels kernels;

    @TempDir
    private Path folder;

    @BeforeAll
    static void load() {
        kernels = Kernels.load(Device.cpu());
    }

    @AfterAll
    static void close() {
        kernels.close();
    }

    /** One kind of damage and what the message must name. */
    private record Damage(String name, Layout layout, Action action, List<String> message) {
        @Override
        public String toString() {
            return name;
        }
    }

    private enum Layout {
        SINGLE,
        SHARDED
    }

    private interface Action {
        void damage(Path folder) throws IOException;
    }

    private static Damage single(String name, Action action, String... message) {
        return new Damage(name, Layout.SINGLE, action, List.of(message));
    }

    private static Damage sharded(String name, Action action, String... message) {
        return new Damage(name, Layout.SHARDED, action, List.of(message));
    }

    /** Sets a key of config.json. */
    private static Damage config(String key, String value, String... message) {
        return single(
                CONFIG + ": " + key + " = " + value,
                folder -> {
                    ObjectNode fields = (ObjectNode) TensorBytes.json(folder.resolve(CONFIG));
                    fields.set(key, TensorBytes.JSON.readTree(value));
                    TensorBytes.JSON.writeValue(folder.resolve(CONFIG).toFile(), fields);
                },
                message);
    }

    /** Changes the header of the weights; the data stay. */
    private static Damage header(String name, Consumer<TensorBytes> change, String... message) {
        return single(
                "header: " + name,
                folder -> {
                    TensorBytes bytes = TensorBytes.read(folder.resolve(WEIGHTS));
                    change.accept(bytes);
                    bytes.write(folder.resolve(WEIGHTS));
                },
                message);
    }

    /** Replaces the header by other bytes. */
    private static Damage headerBytes(String name, byte[] header, String... message) {
        return single(
                "header: " + name,
                folder -> {
                    byte[] data = TensorBytes.read(folder.resolve(WEIGHTS)).data;
                    TensorBytes.write(folder.resolve(WEIGHTS), header, data);
                },
                message);
    }

    /** States another length of the header. */
    private static Damage headerLength(long length, String... message) {
        return single(
                "header length " + length,
                folder -> {
                    byte[] bytes = Files.readAllBytes(folder.resolve(WEIGHTS));
                    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putLong(length);
                    Files.write(folder.resolve(WEIGHTS), bytes);
                },
                message);
    }

    /** Sets the first value of a tensor. */
    private static Damage value(float value, String... message) {
        return single(
                "weight " + value,
                folder -> {
                    TensorBytes bytes = TensorBytes.read(folder.resolve(WEIGHTS));
                    ByteBuffer.wrap(bytes.data).order(ByteOrder.LITTLE_ENDIAN).putFloat(bytes.begin(QUERY) + 8, value);
                    bytes.write(folder.resolve(WEIGHTS));
                },
                message);
    }

    /** Changes the index. */
    private static Damage index(String name, Consumer<ObjectNode> change, String... message) {
        return sharded(
                "index: " + name,
                folder -> {
                    ObjectNode index = (ObjectNode) TensorBytes.json(folder.resolve(INDEX));
                    change.accept(index);
                    TensorBytes.JSON.writeValue(folder.resolve(INDEX).toFile(), index);
                },
                message);
    }

    private static void cut(Path file) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        Files.write(file, Arrays.copyOf(bytes, bytes.length / 2));
    }

    private static Action shorten(String file) {
        return folder -> cut(folder.resolve(file));
    }

    private static Action delete(String file) {
        return folder -> Files.delete(folder.resolve(file));
    }

    private static Action replace(String file, String content) {
        return folder -> Files.writeString(folder.resolve(file), content);
    }

    private static void append(Path file, byte[] more) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        byte[] longer = Arrays.copyOf(bytes, bytes.length + more.length);
        System.arraycopy(more, 0, longer, bytes.length, more.length);
        Files.write(file, longer);
    }

    static Stream<Damage> damages() {
        return Stream.of(configs(), files(), headers(), indexes()).flatMap(List::stream);
    }

    private static List<Damage> configs() {
        return List.of(
                single("config.json missing", delete(CONFIG), "Cannot read", CONFIG),
                single("config.json cut in half", shorten(CONFIG), "Invalid", CONFIG, "cut short"),
                single("config.json empty", replace(CONFIG, ""), "Invalid", CONFIG, "JSON object"),
                single("config.json a list", replace(CONFIG, "[1, 2]"), "Invalid", CONFIG, "JSON object"),
                single("config.json deeper than a stack", replace(CONFIG, "[".repeat(100_000)), "Invalid", CONFIG),
                config("model_type", "\"rwkv\"", "Unsupported model_type 'rwkv'", CONFIG, "llama"),
                config("num_hidden_layers", "2000000000", "Invalid num_hidden_layers", CONFIG, "from 1 to 1000"),
                config("num_hidden_layers", "3", "Invalid layer_types", CONFIG, "num_hidden_layers = 3"),
                config("num_hidden_layers", "0", "Invalid num_hidden_layers", CONFIG),
                config("vocab_size", "4000000000", "Invalid vocab_size", CONFIG, "4000000000"),
                config("vocab_size", "16000000", "Invalid tensor " + EMBEDDING, WEIGHTS, "16000000", "1024"),
                config("hidden_size", "-64", "Invalid hidden_size", CONFIG, "-64"),
                config("hidden_size", "64.5", "Invalid hidden_size", CONFIG, "64.5"),
                config("hidden_size", "\"64\"", "Invalid hidden_size", CONFIG),
                config("intermediate_size", "null", "Invalid intermediate_size", CONFIG, "found null"),
                config("num_attention_heads", "3", "Invalid hidden_size", CONFIG, "num_attention_heads"),
                config("num_key_value_heads", "3", "Invalid heads", CONFIG, "num_key_value_heads 3"),
                config("num_key_value_heads", "8", "Invalid num_key_value_heads", CONFIG, "from 1 to 4"),
                config("head_dim", "7", "Invalid heads", CONFIG, "even"),
                config("max_position_embeddings", "2147483647", "Invalid max_position_embeddings", CONFIG),
                config("rms_norm_eps", "-1", "Invalid rms_norm_eps", CONFIG),
                config("rope_parameters", "{\"rope_theta\": 1e999}", "Invalid rope_theta", CONFIG),
                config("rope_parameters", "{\"rope_theta\": 0}", "Invalid rope_theta", CONFIG),
                config("rope_parameters", "{\"rope_type\": \"llama3\"}", "Invalid low_freq_factor", CONFIG),
                config("rope_parameters", "7", "Invalid rope_parameters", CONFIG),
                config("tie_word_embeddings", "\"yes\"", "Invalid tie_word_embeddings", CONFIG),
                config("layer_types", "[\"full_attention\"]", "Invalid layer_types", CONFIG, "num_hidden_layers = 2"));
    }

    private static List<Damage> files() {
        return List.of(
                single("no weights", delete(WEIGHTS), "Cannot find weights", WEIGHTS, INDEX),
                single("weights cut in half", shorten(WEIGHTS), "Invalid", WEIGHTS, "tensor ", "cut short"),
                single("weights empty", replace(WEIGHTS, ""), "Invalid", WEIGHTS, "0 bytes", "cut short"),
                single(
                        "a pointer file",
                        replace(WEIGHTS, "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"),
                        "Invalid",
                        WEIGHTS,
                        "pointer file"),
                single(
                        "bytes behind the last tensor",
                        folder -> append(folder.resolve(WEIGHTS), new byte[12]),
                        "Invalid",
                        WEIGHTS,
                        "tensors end at byte"),
                single(
                        "a folder in place of the weights",
                        folder -> {
                            Files.delete(folder.resolve(WEIGHTS));
                            Files.createDirectory(folder.resolve(WEIGHTS));
                        },
                        WEIGHTS),
                value(Float.NaN, "Invalid tensor " + QUERY, WEIGHTS, "element 2 is NaN"),
                value(Float.POSITIVE_INFINITY, "Invalid tensor " + QUERY, WEIGHTS, "element 2 is Infinity"),
                value(Float.NEGATIVE_INFINITY, "Invalid tensor " + QUERY, WEIGHTS, "element 2 is -Infinity"),
                headerLength(-1, "Invalid", WEIGHTS, "header"),
                headerLength(1, "Invalid", WEIGHTS, "header"),
                headerLength(10_000_000, "Invalid", WEIGHTS, "header of 10000000 bytes"),
                headerLength(Long.MAX_VALUE, "Invalid", WEIGHTS, "header"),
                headerLength(64, "Invalid", WEIGHTS, "no JSON"));
    }

    private static List<Damage> headers() {
        List<Damage> damages = new ArrayList<>(List.of(
                headerBytes("a list", "[]".getBytes(UTF_8), "Invalid", WEIGHTS, "JSON object"),
                headerBytes("no UTF-8", new byte[] {'{', '"', (byte) 0xff, '"', '}'}, "Invalid", WEIGHTS, "UTF-8"),
                headerBytes("zeros", new byte[64], "Invalid", WEIGHTS, "no JSON"),
                headerBytes(
                        "a tensor twice",
                        ("{\"a\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]},"
                                        + "\"a\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}}")
                                .getBytes(UTF_8),
                        "Invalid",
                        WEIGHTS,
                        "Duplicate field 'a'"),
                header("a tensor is no object", b -> b.header.put(NORM, 7), "Invalid", WEIGHTS, NORM, "dtype"),
                header("no dtype", b -> b.tensor(NORM).remove("dtype"), "Invalid", WEIGHTS, NORM, "dtype"),
                header("unknown dtype", b -> b.tensor(NORM).put("dtype", "F13"), WEIGHTS, NORM, "unsupported dtype"),
                header("integers", b -> b.tensor(NORM).put("dtype", "I32"), "Unsupported type I32", NORM, WEIGHTS),
                header("wrong width", b -> b.tensor(NORM).put("dtype", "F64"), WEIGHTS, NORM, "needs 512 bytes"),
                header(
                        "three offsets",
                        b -> b.tensor(NORM)
                                .putArray("data_offsets")
                                .add(0)
                                .add(1)
                                .add(2),
                        WEIGHTS,
                        NORM),
                header(
                        "offsets as text",
                        b -> b.tensor(NORM).putArray("data_offsets").add("0").add("256"),
                        WEIGHTS,
                        NORM,
                        "whole numbers")));
        damages.addAll(List.of(
                header(
                        "negative dimension",
                        b -> b.tensor(NORM).putArray("shape").add(-64),
                        WEIGHTS,
                        NORM,
                        "whole numbers"),
                header(
                        "dimensions that overflow",
                        b -> b.tensor(NORM).putArray("shape").add(1L << 62).add(1L << 62),
                        WEIGHTS,
                        NORM,
                        "data_offsets give it 256"),
                header(
                        "other shape of the same size",
                        b -> b.tensor(NORM).putArray("shape").add(8).add(8),
                        "Invalid tensor " + NORM,
                        WEIGHTS,
                        "expected the shape (64)",
                        "found (8, 8)"),
                header("begins behind its end", b -> b.move(NORM, 512, 256), WEIGHTS, NORM, "bytes 512 to 256"),
                header("outside the file", b -> b.move(NORM, 1L << 40, (1L << 40) + 256), WEIGHTS, NORM, "lies at"),
                header("longest offset", b -> b.move(NORM, 0, Long.MAX_VALUE), WEIGHTS, NORM, "lies at"),
                header("overlap", b -> b.move(NORM, b.begin(NORM) - 128, b.end(NORM) - 128), WEIGHTS, "begin at byte"),
                header("a hole", b -> b.header.remove(QUERY), WEIGHTS, "begin at byte"),
                header(
                        "renamed",
                        b -> b.header.set("model.layers.1.self_attn.wq", b.header.remove(QUERY)),
                        "Cannot find tensor " + QUERY,
                        WEIGHTS),
                single(
                        "a tensor missing",
                        folder -> {
                            TensorBytes bytes = TensorBytes.read(folder.resolve(WEIGHTS));
                            List<String> others = new ArrayList<>(bytes.names());
                            others.remove(QUERY);
                            bytes.only(others).write(folder.resolve(WEIGHTS));
                        },
                        "Cannot find tensor " + QUERY,
                        "(64, 64)",
                        WEIGHTS)));
        return damages;
    }

    private static List<Damage> indexes() {
        return List.of(
                sharded("a shard missing", delete(SECOND), "Cannot find", SECOND, INDEX),
                sharded("a shard cut in half", shorten(SECOND), "Invalid", SECOND, "cut short"),
                sharded("the index cut in half", shorten(INDEX), "Cannot read index", INDEX, "cut short"),
                sharded("the index empty", replace(INDEX, ""), "Invalid index", INDEX, "weight_map"),
                index("no weight_map", i -> i.remove("weight_map"), "Invalid index", INDEX, "weight_map"),
                index("a tensor in no shard", i -> map(i).remove(QUERY), "Cannot find tensor " + QUERY, SECOND),
                index(
                        "a tensor in the wrong shard",
                        i -> map(i).put(QUERY, otherThan(map(i).path(QUERY))),
                        "Invalid index",
                        INDEX,
                        QUERY,
                        "does not hold it"),
                index("a number", i -> map(i).put(QUERY, 2), "Invalid index", INDEX, QUERY, "file name"),
                index("out of the folder", i -> map(i).put(QUERY, "../x"), "Invalid file name '../x'", INDEX),
                index("no file name", i -> map(i).put(QUERY, "a\0b"), "Invalid file name", INDEX));
    }

    private static ObjectNode map(ObjectNode index) {
        return (ObjectNode) index.path("weight_map");
    }

    private static String otherThan(JsonNode shard) {
        return shard.asText().equals(SECOND) ? "model-00001-of-00002.safetensors" : SECOND;
    }

    @ParameterizedTest
    @MethodSource("damages")
    void damageIsAnErrorThatNamesPlaceAndExpectation(Damage damage) throws IOException {
        GoldenModel golden = GoldenModel.named("qwen2");
        TensorBytes.copy(golden.folder(), folder);
        if (damage.layout == Layout.SHARDED) {
            TensorBytes.shard(folder);
        }
        Weights.load(kernels, folder).close(); // nothing else is wrong with it
        damage.action.damage(folder);
        AbstractThrowableAssert<?, ? extends Throwable> thrown = assertThatThrownBy(
                        () -> Weights.load(kernels, folder).close())
                .isInstanceOf(InvalidModelException.class)
                .hasMessageMatching("(?s)(Cannot|Invalid|Unsupported) .*");
        damage.message.forEach(thrown::hasMessageContaining);
    }

    @ParameterizedTest
    @CsvSource({"BF16, 2", "F32, 4"})
    void aTensorBeyondTwoGigabytesIsRefusedByNameWithSizeAndRemedyBeforeAnythingIsAllocated(String type, int width)
            throws IOException {
        TensorBytes.copy(GoldenModel.named("qwen2").folder(), folder);
        long rows = (1L << 29) / 64;
        ObjectNode config = (ObjectNode) TensorBytes.json(folder.resolve(CONFIG));
        TensorBytes.JSON.writeValue(folder.resolve(CONFIG).toFile(), config.put("vocab_size", rows));
        ObjectNode header = TensorBytes.JSON.createObjectNode();
        ObjectNode embedding = header.putObject(EMBEDDING).put("dtype", type);
        embedding.putArray("shape").add(rows).add(64);
        embedding.putArray("data_offsets").add(0).add(rows * 64 * width);
        byte[] json = TensorBytes.JSON.writeValueAsBytes(header);
        TensorBytes.write(folder.resolve(WEIGHTS), json, new byte[0]);
        try (RandomAccessFile sparse =
                new RandomAccessFile(folder.resolve(WEIGHTS).toFile(), "rw")) {
            sparse.setLength(8 + json.length + rows * 64 * width);
        }

        assertThatThrownBy(() -> Weights.check(folder, Head.TOKENS))
                .isInstanceOf(InvalidModelException.class)
                .hasMessageContaining("Unsupported tensor " + EMBEDDING + " of shape (" + rows + ", 64)")
                .hasMessageContaining("take 2147483648 bytes in fp32")
                .hasMessageContaining("at most 2 GiB (536870911 numbers); take a model with a smaller vocabulary");
        assertThatThrownBy(() -> Weights.load(kernels, folder).close()).hasMessageContaining("2147483648 bytes");
    }

    @Test
    void damageThatAppearsLaterLeavesTheLoadedWeightsInUse() throws IOException {
        TensorBytes.copy(GoldenModel.named("qwen2").folder(), folder);
        try (Weights weights = Weights.load(kernels, folder)) {
            float[] before = weights.parameters().get(NORM).toFloatArray();
            cut(folder.resolve(WEIGHTS));
            assertThatThrownBy(() -> weights.reload(folder)).isInstanceOf(InvalidModelException.class);
            assertThat(weights.parameters().get(NORM).toFloatArray()).isEqualTo(before);
        }
    }
}
