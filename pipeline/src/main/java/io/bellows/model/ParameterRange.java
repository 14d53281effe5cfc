package io.bellows.model;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.Shape;
import ai.djl.pytorch.engine.PtNDManager;
import ai.djl.pytorch.jni.ScriptBridge.Mode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Some neighbouring scalars of a parameter, in row-major order: what one of several ranks keeps the optimizer state of.
 *
 * @param name the parameter's Hugging Face name
 * @param shape the shape of the whole parameter
 * @param index the parameter's place among all
 * @param from the first scalar
 * @param to one past the last
 */
public record ParameterRange(String name, Shape shape, int index, long from, long to) {

    /**
     * Cuts a range out of all parameters, laid end to end.
     *
     * @param weights the parameters
     * @param from the first scalar of all
     * @param to one past the last
     * @return the ranges, in the order of the parameters; none is empty
     */
    public static List<ParameterRange> between(Weights weights, long from, long to) {
        List<ParameterRange> ranges = new ArrayList<>();
        long start = 0;
        int index = 0;
        for (Map.Entry<String, NDArray> parameter : weights.parameters().entrySet()) {
            long size = parameter.getValue().size();
            long begin = Math.max(from - start, 0);
            long end = Math.min(to - start, size);
            if (begin < end) {
                Shape shape = parameter.getValue().getShape();
                ranges.add(new ParameterRange(parameter.getKey(), shape, index, begin, end));
            }
            start += size;
            index++;
        }
        return List.copyOf(ranges);
    }

    /**
     * Returns tensors of one dimension that share the memory of the ranges.
     *
     * @param kernels the compiled source
     * @param owner owns the results
     * @param tensors one per parameter: the parameters themselves, or their gradients
     * @param ranges which parts
     * @return the parts, in the order of {@code ranges}, outside of any graph
     */
    public static List<NDArray> views(
            Kernels kernels, PtNDManager owner, List<NDArray> tensors, List<ParameterRange> ranges) {
        if (ranges.isEmpty()) {
            return List.of();
        }
        List<NDArray> cut = new ArrayList<>();
        long[] bounds = new long[2 * ranges.size()];
        for (int i = 0; i < ranges.size(); i++) {
            cut.add(tensors.get(ranges.get(i).index));
            bounds[2 * i] = ranges.get(i).from;
            bounds[2 * i + 1] = ranges.get(i).to;
        }
        return kernels.tensors(owner, "ranges", Mode.ORDINARY, cut, bounds);
    }
}
