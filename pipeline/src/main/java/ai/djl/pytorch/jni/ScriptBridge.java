package ai.djl.pytorch.jni;

import ai.djl.ndarray.NDArray;
import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.engine.PtNDManager;
import ai.djl.pytorch.engine.PtSymbolBlock;
import java.util.List;

/**
 * Calls a method of a loaded script with the thread's own gradient mode.
 *
 * <p>DJL's public API always runs script methods in inference mode, whose results can never take part in a backward
 * pass. The native binding can do better but is package-private, which is why this class lives in DJL's package.
 */
public final class ScriptBridge {

    /** How libtorch treats the tensors that a call creates. */
    public enum Mode {
        /** No graph and no version counters; results can never be saved for a backward pass. The fastest. */
        INFERENCE,
        /** Ordinary tensors; a graph is recorded if the calling thread's gradient mode is on. */
        ORDINARY
    }

    private ScriptBridge() {}

    /**
     * Runs {@code method} of {@code script}.
     *
     * @param script the loaded script
     * @param method the name of the method
     * @param mode how libtorch treats new tensors
     * @param arguments {@link NDArray}, {@code List<NDArray>}, {@code long[]}, {@link Integer}, {@link Long},
     *     {@link Double}, {@link Boolean}, or an {@link IValue} that stays the caller's
     * @return the result, to be closed by the caller
     * @throws IllegalArgumentException if an argument is of another type
     * @throws ai.djl.engine.EngineException if the script fails; the message holds its file, line and source
     */
    public static IValue run(PtSymbolBlock script, String method, Mode mode, Object... arguments) {
        IValue[] values = new IValue[arguments.length];
        try {
            long[] handles = new long[arguments.length];
            for (int i = 0; i < arguments.length; i++) {
                values[i] = toIValue(arguments[i]);
                handles[i] = values[i].getHandle();
            }
            boolean ordinary = mode == Mode.ORDINARY;
            return new IValue(PyTorchLibrary.LIB.moduleRunMethod(script.getHandle(), method, handles, ordinary, false));
        } finally {
            for (int i = 0; i < values.length; i++) {
                if (values[i] != null && values[i] != arguments[i]) {
                    values[i].close();
                }
            }
        }
    }

    /**
     * Runs the backward pass from {@code tensor} with the given upstream gradient, adding into the leaves' gradients.
     *
     * @param tensor a tensor with a recorded graph, any shape
     * @param gradient d(loss)/d(tensor), the same shape
     */
    public static void backward(NDArray tensor, NDArray gradient) {
        JniUtils.backward((PtNDArray) tensor, (PtNDArray) gradient, false, false);
    }

    /**
     * Returns a list value that can be passed to many calls without being rebuilt for each.
     *
     * @param tensors the tensors, which must outlive the value
     * @return the list, to be closed by the caller
     */
    public static IValue listOf(List<? extends NDArray> tensors) {
        return IValue.listFrom(tensors.stream().map(PtNDArray.class::cast).toArray(PtNDArray[]::new));
    }

    /**
     * Takes the only tensor out of a result.
     *
     * @param value the result, which is closed
     * @param manager owns the tensor from now on
     * @return the tensor
     */
    public static NDArray tensor(IValue value, PtNDManager manager) {
        try (value) {
            return value.toTensor(manager);
        }
    }

    /**
     * Takes the tensors out of a result that is a list or a tuple of tensors.
     *
     * @param value the result, which is closed
     * @param manager owns the tensors from now on
     * @return the tensors, in order
     */
    public static List<NDArray> tensors(IValue value, PtNDManager manager) {
        try (value) {
            return List.copyOf(value.toNDList(manager));
        }
    }

    private static IValue toIValue(Object argument) {
        if (argument instanceof IValue value) {
            return value;
        }
        if (argument instanceof PtNDArray array) {
            return IValue.from(array);
        }
        if (argument instanceof List<?> list) {
            return IValue.listFrom(list.stream().map(PtNDArray.class::cast).toArray(PtNDArray[]::new));
        }
        if (argument instanceof long[] longs) {
            return IValue.listFrom(longs);
        }
        if (argument instanceof Integer || argument instanceof Long) {
            return IValue.from(((Number) argument).longValue());
        }
        if (argument instanceof Double number) {
            return IValue.from(number.doubleValue());
        }
        if (argument instanceof Boolean flag) {
            return IValue.from(flag.booleanValue());
        }
        throw new IllegalArgumentException("Unsupported script argument: "
                + (argument == null ? "null" : argument.getClass().getName()));
    }
}
