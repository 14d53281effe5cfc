package io.bellows.stage;

import io.bellows.client.ServerPool;
import io.bellows.client.ServerSampling;
import io.bellows.env.ModelRequest;
import io.bellows.env.ModelRequest.TrajectoryId;
import io.bellows.text.ChatTokenizer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;

/** Servers as the model of environments. Nobody waits for anybody: what belongs together is the servers' affair. */
final class ServerModel implements TaskModel {

    private final ChatTokenizer text;
    private final ServerPool pool;

    /**
     * Opens the tokenizer, which a task has to itself, and the pool.
     *
     * @param folder holds the model's tokenizer and chat template
     */
    ServerModel(RolloutStage stage, String folder, int iteration) {
        RolloutSampling sampling = stage.sampling();
        try {
            text = ChatTokenizer.load(Path.of(folder), sampling.templateVariables());
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot load the tokenizer of " + folder, e);
        }
        pool = new ServerPool(
                stage.servers(),
                new ServerSampling(
                        sampling.temperature(), sampling.topK(), sampling.topP(), sampling.minP(), sampling.stop()),
                text.tokenizer(),
                request -> SampleSeed.of(sampling.seed(), iteration, request));
    }

    @Override
    public ChatTokenizer text() {
        return text;
    }

    @Override
    public void meet(List<TrajectoryId> trajectories, Together together) {}

    @Override
    public Call generate(ModelRequest request) {
        return pool.generate(request);
    }

    @Override
    public void leave(TrajectoryId trajectory) {
        pool.leave(trajectory);
    }

    @Override
    public void close() {
        pool.close();
        text.close();
    }
}
