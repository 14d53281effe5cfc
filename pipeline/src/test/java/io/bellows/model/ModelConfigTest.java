package io.bellows.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ModelConfigTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    private Path folder;

    private static ObjectNode fields(String model) throws IOException {
        return (ObjectNode) JSON.readTree(
                GoldenModel.named(model).folder().resolve("config.json").toFile());
    }

    private ModelConfig parse(ObjectNode fields) throws IOException {
        Path file = folder.resolve("config.json");
        Files.writeString(file, JSON.writeValueAsString(fields));
        return ModelConfig.parse(file);
    }

    @Test
    void olderAndNewerSpellingsOfTheRotaryEmbeddingMeanTheSame() throws IOException {
        ObjectNode fields = fields("llama");
        ModelConfig newer = parse(fields);
        ObjectNode scaling = (ObjectNode) fields.remove("rope_parameters");
        fields.set("rope_theta", scaling.remove("rope_theta"));
        fields.set("rope_scaling", scaling);
        ModelConfig older = parse(fields);
        assertThat(older).isEqualTo(newer);
        assertThat(older.rope()).isEqualTo(new RopeScaling(RopeScaling.Type.LLAMA3, 10_000, 8, 1, 4, 64));
        scaling.set("type", scaling.remove("rope_type")); // the oldest
        assertThat(parse(fields)).isEqualTo(newer);
    }

    @Test
    void linearScalingDividesEveryFrequency() throws IOException {
        ObjectNode fields = fields("llama");
        fields.set("rope_parameters", JSON.readTree("{\"rope_type\":\"linear\",\"factor\":4,\"rope_theta\":10000}"));
        double[] scaled = parse(fields).rope().frequencies(16);
        double[] plain = RopeScaling.none(10_000).frequencies(16);
        assertThat(scaled).hasSize(8);
        for (int i = 0; i < 8; i++) {
            assertThat(scaled[i]).isCloseTo(plain[i] / 4, within(1e-12));
        }
    }

    @Test
    void llama3ScalingKeepsHighFrequenciesAndDividesLowOnes() throws IOException {
        double[] scaled = parse(fields("llama")).rope().frequencies(16);
        double[] plain = RopeScaling.none(10_000).frequencies(16);
        assertThat(scaled[0]).isEqualTo(plain[0]); // a wavelength of 6.3 of 64 positions
        assertThat(scaled[7]).isCloseTo(plain[7] / 8, within(1e-12));
        // Wavelength 19.869 lies between 64 / 4 and 64 / 1: (64 / 19.869 - 1) / (4 - 1) of the frequency is kept.
        assertThat(scaled[1]).isCloseTo(plain[1] * (0.740350 + (1 - 0.740350) / 8), within(1e-5));
    }

    @Test
    void windowsOfTheQwenFamiliesFollowTheLayers() throws IOException {
        ObjectNode fields = fields("qwen3");
        fields.put("num_hidden_layers", 4).put("use_sliding_window", true).put("sliding_window", 32);
        fields.remove("layer_types");
        fields.put("max_window_layers", 3);
        assertThat(parse(fields).windows()).containsExactly(0, 0, 0, 32);
        fields.putArray("layer_types")
                .add("sliding_attention")
                .add("full_attention")
                .add("sliding_attention")
                .add("full_attention");
        assertThat(parse(fields).windows()).containsExactly(32, 0, 32, 0);
        fields.put("use_sliding_window", false);
        assertThatThrownBy(() -> parse(fields))
                .isInstanceOf(InvalidModelException.class)
                .hasMessageContaining("layer_types");
    }

    @Test
    void windowsOfMistralAreAllOrNone() throws IOException {
        ObjectNode fields = fields("mistral_swa");
        assertThat(parse(fields).windows()).containsExactly(6, 6);
        fields.putNull("sliding_window");
        assertThat(parse(fields).windows()).containsExactly(0, 0);
        fields.remove("sliding_window");
        assertThat(parse(fields).windows()).isEqualTo(Collections.nCopies(2, 4096));
    }

    @Test
    void headSizeIsOwnOrTheFamilysOrThatOfTheHiddenSize() throws IOException {
        ObjectNode qwen3 = fields("qwen3");
        assertThat(parse(qwen3).headSize()).isEqualTo(32);
        qwen3.remove("head_dim");
        assertThat(parse(qwen3).headSize()).isEqualTo(128);
        ObjectNode llama = fields("llama");
        llama.remove("head_dim");
        assertThat(parse(llama).headSize()).isEqualTo(16);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "llama; model_type; \"gemma3_text\"; Unsupported model_type 'gemma3_text'",
                "llama; hidden_act; \"gelu\"; Unsupported hidden_act",
                "llama; attention_bias; true; Unsupported attention_bias = true",
                "qwen3; attention_bias; true; Unsupported attention_bias = true",
                "llama; mlp_bias; true; Unsupported mlp_bias = true",
                "mistral; attention_dropout; 0.1; Unsupported attention_dropout = 0.1",
                "qwen2; quantization_config; {\"quant_method\":\"awq\"}; Unsupported quantization_config",
                "llama; final_logit_softcapping; 30.0; Unsupported final_logit_softcapping",
                "llama; attn_logit_softcapping; 50.0; Unsupported attn_logit_softcapping",
                "llama; query_pre_attn_scalar; 256; Unsupported query_pre_attn_scalar",
                "llama; partial_rotary_factor; 0.5; Unsupported partial_rotary_factor",
                "llama; rope_parameters; {\"rope_type\":\"yarn\",\"factor\":4}; Unsupported rope_type = \"yarn\"",
                "llama; rope_scaling; {\"type\":\"dynamic\",\"factor\":2}; Unsupported rope_type = \"dynamic\"",
                "qwen3; layer_types; [\"linear_attention\",\"full_attention\"]; Unsupported layer_types",
                "llama; layer_types; [\"sliding_attention\",\"full_attention\"]; Unsupported layer_types"
            })
    void anUnsupportedFeatureIsRefusedByName(String model, String key, String value, String message)
            throws IOException {
        ObjectNode fields = fields(model);
        fields.set(key, JSON.readTree(value));
        assertThatThrownBy(() -> parse(fields))
                .isInstanceOf(InvalidModelException.class)
                .hasMessageStartingWith(message)
                .hasMessageContaining("config.json");
    }

    @Test
    void aFolderSaysHowItStoresItsWeights() throws IOException {
        ObjectNode fields = fields("qwen2");
        assertThat(parse(fields).storage()).isEqualTo(StorageType.F32);
        fields.put("dtype", "bfloat16");
        assertThat(parse(fields).storage()).isEqualTo(StorageType.BF16);
        fields.remove("dtype");
        fields.put("torch_dtype", "float16");
        assertThat(parse(fields).storage()).isEqualTo(StorageType.F16);
    }
}
