package io.bellows.model;

import static java.nio.charset.StandardCharsets.UTF_8;

import ai.djl.Device;
import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.pytorch.engine.PtNDManager;
import ai.djl.pytorch.engine.PtSymbolBlock;
import ai.djl.pytorch.jni.JniUtils;
import ai.djl.pytorch.jni.ScriptBridge;
import ai.djl.pytorch.jni.ScriptBridge.Mode;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;

/**
 * The decoder source, compiled by libtorch for one device, and the root of the native memory used with it.
 *
 * <p>Safe for several threads; each takes its own sub-manager for what it allocates.
 */
public final class Kernels implements AutoCloseable {

    private static final String SOURCE = "decoder.py";

    private final PtNDManager manager;
    private final PtSymbolBlock script;

    private Kernels(PtNDManager manager, PtSymbolBlock script) {
        this.manager = manager;
        this.script = script;
    }

    /**
     * Compiles the decoder source.
     *
     * @param device where tensors will live
     * @return the kernels, to be closed after everything that was made with them
     */
    public static Kernels load(Device device) {
        // By name: the tokenizers register an engine of their own, and the default engine may be that one.
        PtNDManager manager = (PtNDManager) Engine.getEngine("PyTorch").newBaseManager(device);
        try (InputStream source = Kernels.class.getResourceAsStream(SOURCE)) {
            byte[] archive = ScriptArchive.pack(new String(source.readAllBytes(), UTF_8));
            PtSymbolBlock script = JniUtils.loadModule(manager, new ByteArrayInputStream(archive), false, false);
            return new Kernels(manager, script);
        } catch (IOException e) {
            manager.close();
            throw new UncheckedIOException("Cannot read the decoder source from the jar", e);
        }
    }

    /**
     * Returns a manager for a caller's own tensors.
     *
     * @return a sub-manager on this device, to be closed by the caller
     */
    public PtNDManager newManager() {
        return (PtNDManager) manager.newSubManager();
    }

    /**
     * Runs a method that returns one tensor.
     *
     * @param owner the manager that owns the result
     * @param method the method's name in the decoder source
     * @param mode how libtorch treats new tensors
     * @param arguments as {@link ScriptBridge#run} takes them
     * @return the tensor
     */
    public NDArray tensor(PtNDManager owner, String method, Mode mode, Object... arguments) {
        return ScriptBridge.tensor(ScriptBridge.run(script, method, mode, arguments), owner);
    }

    /**
     * Runs a method that returns a list or a tuple of tensors.
     *
     * @param owner the manager that owns the results
     * @param method the method's name in the decoder source
     * @param mode how libtorch treats new tensors
     * @param arguments as {@link ScriptBridge#run} takes them
     * @return the tensors, in order
     */
    public List<NDArray> tensors(PtNDManager owner, String method, Mode mode, Object... arguments) {
        return ScriptBridge.tensors(ScriptBridge.run(script, method, mode, arguments), owner);
    }

    /**
     * Runs a method for what it does to its arguments.
     *
     * @param method the method's name in the decoder source
     * @param mode how libtorch treats new tensors
     * @param arguments as {@link ScriptBridge#run} takes them
     */
    public void run(String method, Mode mode, Object... arguments) {
        ScriptBridge.run(script, method, mode, arguments).close();
    }

    @Override
    public void close() {
        script.close();
        manager.close();
    }
}
