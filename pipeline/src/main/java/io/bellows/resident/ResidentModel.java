package io.bellows.resident;

import ai.djl.Device;
import ai.djl.pytorch.jni.JniUtils;
import io.bellows.engine.Admission;
import io.bellows.engine.InferenceEngine;
import io.bellows.model.Decoder;
import io.bellows.model.Gradients;
import io.bellows.model.Kernels;
import io.bellows.model.ModelFolder;
import io.bellows.model.Weights;
import io.bellows.resident.ExecutorHost.Role;
import io.bellows.text.ChatTokenizer;
import io.bellows.text.SpecialTokens;
import io.bellows.text.StreamingDecoder;
import io.bellows.text.Tokenizer;
import io.bellows.training.AdamW;
import io.bellows.training.TrainedModel;
import io.bellows.training.Trainer;
import io.bellows.training.UpdateSettings;
import io.bellows.training.collective.Collective;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One model in an executor's memory: weights that engine, scoring and training share, so that a weight sync inside an
 * executor costs nothing. A critic has no engine and no tokenizer.
 *
 * <p>Weights are marked dirty before the first write in place and clean, under a new id, once a whole update is on disk.
 * A task that finds them dirty or under another id than it expects reloads them from there.
 */
public final class ResidentModel implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(ResidentModel.class);

    private final Role role;
    private final ResidentSettings settings;
    private final Kernels kernels;
    private final Weights weights;
    private final Decoder decoder;
    private String cleanId;
    private long version;
    private InferenceEngine engine;
    private ChatTokenizer tokenizer;
    private Gradients gradients;
    private AdamW optimizer;

    private ResidentModel(Role role, Kernels kernels, Weights weights, Decoder decoder, ResidentSettings settings) {
        this.role = role;
        this.kernels = kernels;
        this.weights = weights;
        this.decoder = decoder;
        this.settings = settings;
    }

    static ResidentModel load(Role role, Device device, WeightsRef ref, ResidentSettings settings) {
        Kernels kernels = Kernels.load(device);
        try {
            Weights weights = Weights.load(kernels, Path.of(ref.modelFolder()), role.head(), settings.compute());
            Decoder decoder = new Decoder(kernels, weights.config(), settings.maxLength(), settings.activations());
            ResidentModel model = new ResidentModel(role, kernels, weights, decoder, settings);
            if (ref.optimizerFile() == null) {
                model.markClean(ref.id(), ref.version());
            }
            return model;
        } catch (RuntimeException e) {
            kernels.close();
            throw e;
        }
    }

    /**
     * Sets the calling thread up. libtorch rewrites a script after it has seen some calls, which changes the last bits; a
     * resumed run has made fewer calls than an unbroken one, so a deterministic run leaves the script as it is.
     */
    void prepareThread() {
        JniUtils.setNumThreads(
                settings.nativeThreads()); // a pooled thread may have served another run; new threads follow
        JniUtils.setGraphExecutorOptimize(settings.admission() != Admission.ORDERED);
    }

    /** Makes the weights those of {@code ref}, from memory if they are there and clean. */
    synchronized void ensure(WeightsRef ref) {
        if (ref.id().equals(cleanId)) {
            return;
        }
        cleanId = null;
        if (ref.optimizerFile() == null) {
            weights.reload(Path.of(ref.modelFolder()));
            if (optimizer != null) {
                optimizer.reset();
            }
        } else if (optimizer == null) {
            AdamW.restoreWeights(weights, Path.of(ref.optimizerFile()));
        } else {
            optimizer.restore(Path.of(ref.optimizerFile()));
        }
        markClean(ref.id(), ref.version());
    }

    private void markClean(String id, long newVersion) {
        cleanId = id;
        version = newVersion;
        if (engine != null) {
            engine.weightsVersion(newVersion);
        }
    }

    /**
     * Returns the scoring decoder.
     *
     * @return the decoder, for {@link #weights()}
     */
    public Decoder decoder() {
        return decoder;
    }

    /**
     * Returns the weights.
     *
     * @return the weights, shared with engine and trainer
     */
    public Weights weights() {
        return weights;
    }

    /**
     * Returns the inference engine, started on first use and again after its thread died.
     *
     * @param ref the weights that {@link ExecutorHost#model} was asked for; tells where the tokenizer is
     * @return the engine, which stays this object's
     */
    public synchronized InferenceEngine engine(WeightsRef ref) {
        if (engine != null && !engine.isRunning()) {
            engine.close(); // its thread died, for want of memory perhaps: the next task gets another try
            engine = null;
        }
        if (engine == null) {
            Tokenizer text = tokenizer(ref, Map.of()).tokenizer();
            engine = new InferenceEngine(
                    kernels, weights, settings.engine(), () -> new StreamingDecoder(text, SpecialTokens.SKIP)::push);
            engine.weightsVersion(version);
        }
        return engine;
    }

    /**
     * Returns tokenizer and chat template of the model folder, loaded on first use.
     *
     * @param ref the weights that {@link ExecutorHost#model} was asked for
     * @param templateVariables extra variables of the chat template
     * @return the tokenizer, which stays this object's
     */
    public synchronized ChatTokenizer tokenizer(WeightsRef ref, Map<String, Object> templateVariables) {
        if (tokenizer == null) {
            try {
                tokenizer = ChatTokenizer.load(Path.of(ref.modelFolder()), Map.of());
            } catch (IOException e) {
                throw new UncheckedIOException("Cannot load the tokenizer of " + ref.modelFolder(), e);
            }
        }
        return tokenizer.withVariables(templateVariables);
    }

    /**
     * Changes the weights in place and writes what came out into a checkpoint.
     *
     * @param from the weights to start from
     * @param update objective, schedule and budgets
     * @param checkpoint a folder to write the model and its optimizer state into
     * @param newId id of the weights after the update
     * @param ranks who takes part in it; each writes its share of the optimizer state, the first one the model
     * @param steps takes the optimizer steps
     * @param <T> what the steps return
     * @return what {@code steps} returned
     */
    public synchronized <T> T update(
            WeightsRef from, UpdateSettings update, Path checkpoint, String newId, Collective ranks, Steps<T> steps) {
        long newVersion = from.version() + 1;
        cleanId = null; // dirty from here on: whoever comes after a failure reloads
        prepareTraining(from, update, ranks);
        TrainedModel model = new TrainedModel(decoder, weights, gradients);
        T result = alone(() -> {
            Trainer trainer = new Trainer(model, optimizer, update, ranks);
            T taken = steps.take(trainer);
            trainer.requireSameWeights();
            return taken;
        });
        save(Path.of(from.modelFolder()), checkpoint, ranks);
        ranks.gather(new byte[0]); // whole once every rank's share is on disk
        markClean(newId, newVersion);
        return result;
    }

    /**
     * Returns which rank's share of the optimizer state is in memory.
     *
     * @param ranks how many ranks an update will have
     * @return a rank, or -1 for none
     */
    public synchronized int rankInMemory(int ranks) {
        for (int rank = 0; optimizer != null && rank < ranks; rank++) {
            if (optimizer.isOf(rank, ranks)) {
                return rank;
            }
        }
        return -1;
    }

    /** Runs while the engine takes no step. */
    private <T> T alone(Supplier<T> action) {
        if (engine == null) {
            return action.get();
        }
        try {
            return engine.exclusively(action::get);
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException("Cannot update the weights beside the engine: " + e.getMessage(), e);
        }
    }

    /**
     * Takes optimizer steps.
     *
     * @param <T> what comes back
     */
    @FunctionalInterface
    public interface Steps<T> {
        /**
         * Takes the steps of one update.
         *
         * @param trainer changes the weights in place
         * @return what the caller wants to know of them
         */
        T take(Trainer trainer);
    }

    private void prepareTraining(WeightsRef from, UpdateSettings update, Collective ranks) {
        if (optimizer != null && optimizer.isOf(ranks.rank(), ranks.size())) {
            return;
        }
        if (optimizer != null) {
            optimizer.close(); // of another rank; what this one needs is in the checkpoint
            optimizer = null;
        }
        if (gradients == null) {
            gradients = Gradients.of(kernels, weights);
        }
        AdamW created = new AdamW(kernels, weights, update.adamW(), ranks.rank(), ranks.size());
        try {
            if (from.optimizerFile() != null) {
                created.restore(Path.of(from.optimizerFile()));
            }
        } catch (RuntimeException e) {
            created.close();
            throw e;
        }
        optimizer = created; // only whole: a task that is tried again must not go on with half a state
    }

    private void save(Path source, Path checkpoint, Collective ranks) {
        try {
            Path folder = modelFolder(role, checkpoint);
            if (ranks.rank() > 0) {
                LOG.debug("Rank {} leaves the model to rank 0", ranks.rank());
            } else if (role == Role.CRITIC) {
                ModelFolder.saveCritic(source, folder, weights);
            } else {
                ModelFolder.save(source, folder, weights);
            }
            Path state = optimizerFile(role, checkpoint);
            Files.createDirectories(state.getParent());
            optimizer.save(state);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot write checkpoint " + checkpoint + ": " + e.getMessage(), e);
        }
    }

    /**
     * Returns the reference to the weights of a model in a checkpoint.
     *
     * @param role which model
     * @param id identifies the values
     * @param version the iteration that wrote it
     * @param checkpoint the checkpoint's folder
     * @return the reference
     */
    public static WeightsRef checkpointed(Role role, String id, long version, Path checkpoint) {
        return new WeightsRef(
                id,
                version,
                modelFolder(role, checkpoint).toString(),
                optimizerFile(role, checkpoint).toString());
    }

    private static Path modelFolder(Role role, Path checkpoint) {
        return checkpoint.resolve(role.folder());
    }

    private static Path optimizerFile(Role role, Path checkpoint) {
        return checkpoint.resolve("optimizer").resolve(role.folder() + ".safetensors");
    }

    @Override
    public synchronized void close() {
        if (engine != null) {
            engine.close();
        }
        if (tokenizer != null) {
            tokenizer.close();
        }
        if (optimizer != null) {
            optimizer.close();
        }
        if (gradients != null) {
            gradients.close();
        }
        decoder.close();
        weights.close();
        kernels.close();
    }
}
