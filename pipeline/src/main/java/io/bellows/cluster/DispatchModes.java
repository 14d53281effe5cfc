package io.bellows.cluster;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The dispatch modes that a {@link WorkerGroup} knows, by name. Immutable. */
public final class DispatchModes {

    /** All ranks get the same arguments; the lists they return are put together in their order. */
    public static final String ONE_TO_ALL = "ONE_TO_ALL";

    /** Only rank zero runs, and the driver gets what it returns. */
    public static final String RANK_ZERO = "RANK_ZERO";

    /** Every argument is a list with an item for each rank, which gets a list of its item alone. Results as with {@link #ONE_TO_ALL}. */
    public static final String DP_COMPUTE = "DP_COMPUTE";

    /** One argument is a Dataset, as {@link RankRows}, of which each rank gets its part. The others, and results, as with {@link #ONE_TO_ALL}. */
    public static final String DP_COMPUTE_PROTO = "DP_COMPUTE_PROTO";

    private static final DispatchModes STANDARD = new DispatchModes(Map.of(
            ONE_TO_ALL, new StandardMode.OneToAll(),
            RANK_ZERO, new StandardMode.RankZero(),
            DP_COMPUTE, new StandardMode.DpCompute(),
            DP_COMPUTE_PROTO, new StandardMode.DpComputeProto()));

    private final Map<String, DispatchMode> modes;

    private DispatchModes(Map<String, DispatchMode> modes) {
        this.modes = Collections.unmodifiableMap(new LinkedHashMap<>(modes));
    }

    /**
     * Returns the modes that are named here.
     *
     * @return the modes
     */
    public static DispatchModes standard() {
        return STANDARD;
    }

    /**
     * Registers another mode.
     *
     * @param name for {@link Register#dispatch}
     * @param mode what it does
     * @return these modes and that one
     * @throws IllegalArgumentException if there is one of that name
     */
    public DispatchModes with(String name, DispatchMode mode) {
        Map<String, DispatchMode> more = new LinkedHashMap<>(modes);
        if (more.put(name, mode) != null) {
            throw new IllegalArgumentException(
                    "Cannot register the dispatch mode " + name + ": there is one of that name; choose another");
        }
        return new DispatchModes(more);
    }

    Optional<DispatchMode> find(String name) {
        return Optional.ofNullable(modes.get(name));
    }

    List<String> names() {
        List<String> names = new ArrayList<>(modes.keySet());
        Collections.sort(names);
        return names;
    }
}
