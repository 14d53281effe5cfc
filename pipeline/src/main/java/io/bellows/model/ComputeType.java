package io.bellows.model;

/** The precision that a decoder computes in; its master weights, gradients and optimizer state are fp32 in any case. */
public enum ComputeType {
    /** Single precision. */
    FLOAT32(6),
    /** Matrix products and attention in bfloat16; log-probs, entropies and losses in fp32. */
    BFLOAT16(15);

    private final int code;

    ComputeType(int code) {
        this.code = code;
    }

    /**
     * Finds a type by its name in configurations.
     *
     * @param name {@code float32} or {@code bfloat16}
     * @return the type
     * @throws IllegalArgumentException for another name
     */
    public static ComputeType named(String name) {
        return switch (name) {
            case "float32" -> FLOAT32;
            case "bfloat16" -> BFLOAT16;
            default ->
                throw new IllegalArgumentException(
                        "Unsupported computation type '" + name + "': expected float32 or bfloat16");
        };
    }

    /** libtorch's number for the type. */
    int code() {
        return code;
    }
}
