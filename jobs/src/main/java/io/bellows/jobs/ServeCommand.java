package io.bellows.jobs;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.engine.Admission;
import io.bellows.engine.EngineSettings;
import io.bellows.engine.InferenceEngine;
import io.bellows.model.Kernels;
import io.bellows.model.ModelConfig;
import io.bellows.model.Weights;
import io.bellows.serving.CompletionServer;
import io.bellows.serving.ServedModel;
import io.bellows.serving.ServerSettings;
import io.bellows.text.ChatTokenizer;
import io.bellows.text.SpecialTokens;
import io.bellows.text.StreamingDecoder;
import io.bellows.text.Tokenizer;
import io.bellows.text.toolcall.ToolCallFormat;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "serve",
        description = {
            "Serves a model under the OpenAI protocol, until it is stopped: /v1/chat/completions, /v1/completions, /v1/models, /health.",
            "With BELLOWS_API_KEY in the environment requests must bring that bearer key."
        })
final class ServeCommand extends Subcommand {

    private static final String KEY_VARIABLE = "BELLOWS_API_KEY";
    private static final int DEFAULT_LENGTH = 4096;
    private static final int PREFILL_CHUNK = 8192;

    @Option(names = "--model", required = true, paramLabel = "DIR", description = "Hugging Face folder.")
    private Path model;

    @Option(
            names = "--served-model-name",
            paramLabel = "NAME",
            description = "How requests name the model (default: the folder's name).")
    private String name;

    @Option(
            names = "--host",
            defaultValue = "127.0.0.1",
            paramLabel = "ADDRESS",
            description = "Address to listen on (default: ${DEFAULT-VALUE}, this machine only).")
    private String host;

    @Option(
            names = "--port",
            defaultValue = "8000",
            paramLabel = "PORT",
            description = "0 takes any free one (default: ${DEFAULT-VALUE}).")
    private int port;

    @Option(
            names = "--slots",
            defaultValue = "64",
            paramLabel = "N",
            description = "Sequences decoded at once (default: ${DEFAULT-VALUE}).")
    private int slots;

    @Option(
            names = "--max-model-len",
            paramLabel = "N",
            description = "Most tokens of prompt and answer together (default: the model's positions, at most 4096).")
    private Integer length;

    @Option(
            names = "--timeout",
            defaultValue = "600",
            paramLabel = "SECONDS",
            description = "Longest time for one request (default: ${DEFAULT-VALUE}).")
    private long timeout;

    @Option(
            names = "--tool-call-format",
            defaultValue = "hermes",
            paramLabel = "NAME",
            description = "How the model writes calls of tools: hermes, qwen3_coder, llama3_json or mistral"
                    + " (default: ${DEFAULT-VALUE}).")
    private String toolCallFormat;

    @Mixin
    private TemplateOptions template;

    @Mixin
    private DeviceOption device;

    @Override
    ObjectNode run(Console console) throws IOException {
        ModelArguments.requireTokenizer(model);
        ModelArguments.requireModel(model);
        ToolCallFormat toolCalls = toolCallFormat();
        int positions = ModelConfig.read(model).maxPositions();
        int used = length == null ? Math.min(positions, DEFAULT_LENGTH) : length;
        if (slots < 1 || timeout < 1 || used < 2 || used > positions || port < 0 || port > 65535) {
            throw new UsageException(
                    "Invalid options: expected --slots and --timeout of at least 1, --port 0 to 65535, and"
                            + " --max-model-len 2 to " + positions + ", the model's positions; got " + slots + ", "
                            + timeout
                            + ", " + port + " and " + used);
        }
        EngineSettings settings = new EngineSettings(slots, used, PREFILL_CHUNK, Admission.CONTINUOUS);
        try (Tokenizer tokenizer = Tokenizer.load(model);
                Kernels kernels = Kernels.load(device.device());
                Weights weights = Weights.load(kernels, model);
                InferenceEngine engine = new InferenceEngine(
                        kernels, weights, settings, () -> new StreamingDecoder(tokenizer, SpecialTokens.KEEP)::push)) {
            ChatTokenizer text = template.chat(model, tokenizer);
            serve(console, new ServedModel(servedName(), text, engine, used, toolCalls));
        }
        return object();
    }

    private ToolCallFormat toolCallFormat() {
        try {
            return ToolCallFormat.named(toolCallFormat);
        } catch (IllegalArgumentException e) {
            throw new UsageException(e.getMessage());
        }
    }

    private String servedName() {
        return name == null ? model.toAbsolutePath().normalize().getFileName().toString() : name;
    }

    private void serve(Console console, ServedModel served) {
        String key = System.getenv(KEY_VARIABLE);
        ServerSettings settings = new ServerSettings(host, port, key, Duration.ofSeconds(timeout));
        CountDownLatch stop = new CountDownLatch(1);
        try (CompletionServer server = new CompletionServer(served, settings)) {
            console.say("Serving " + served.name() + " on http://" + host + ":" + server.port() + "/v1"
                    + (key == null ? "" : ", with the key of " + KEY_VARIABLE) + "; Ctrl-C stops it");
            stop.await(); // the signal ends the JVM; sockets and memory go with it
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
