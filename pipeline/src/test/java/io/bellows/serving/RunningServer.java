package io.bellows.serving;

import ai.djl.Device;
import io.bellows.engine.Admission;
import io.bellows.engine.EngineSettings;
import io.bellows.engine.InferenceEngine;
import io.bellows.model.Kernels;
import io.bellows.model.Weights;
import io.bellows.text.ChatTokenizer;
import io.bellows.text.SpecialTokens;
import io.bellows.text.StreamingDecoder;
import io.bellows.text.Tokenizer;
import io.bellows.text.toolcall.ToolCallFormat;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/** A real model behind our server, in this process, without a key. */
public final class RunningServer implements AutoCloseable {

    private final Kernels kernels;
    private final Weights weights;
    private final ChatTokenizer text;
    private final InferenceEngine engine;
    private final CompletionServer server;

    /** Serves the model of a folder under the folder's name. */
    public RunningServer(Path folder, int positions) throws IOException {
        kernels = Kernels.load(Device.cpu());
        weights = Weights.load(kernels, folder);
        text = ChatTokenizer.load(folder, Map.of());
        Tokenizer tokenizer = text.tokenizer();
        engine = new InferenceEngine(
                kernels,
                weights,
                new EngineSettings(8, positions, 256, Admission.CONTINUOUS),
                () -> new StreamingDecoder(tokenizer, SpecialTokens.KEEP)::push);
        server = new CompletionServer(
                new ServedModel(folder.getFileName().toString(), text, engine, positions, ToolCallFormat.HERMES),
                new ServerSettings("127.0.0.1", 0, null, Duration.ofMinutes(1)));
    }

    public int port() {
        return server.port();
    }

    public URI address() {
        return URI.create("http://127.0.0.1:" + port() + "/v1");
    }

    @Override
    public void close() {
        server.close();
        engine.close();
        text.close();
        weights.close();
        kernels.close();
    }
}
