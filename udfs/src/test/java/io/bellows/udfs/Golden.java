package io.bellows.udfs;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** Values computed with verl, from the golden folder of the test resources. */
public final class Golden {
    /** Agreement with a reference that computes in float. */
    public static final double RELATIVE = 1e-5;

    private final JsonNode inputs;
    private final JsonNode cases;

    private Golden(JsonNode file) {
        this.inputs = file.get("inputs");
        this.cases = file.get("cases");
    }

    /** The file of this name, without folder and ending. */
    public static Golden of(String name) {
        try (InputStream in = Golden.class.getResourceAsStream("/golden/" + name + ".json")) {
            return new Golden(new ObjectMapper().readTree(in));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The cases of one function, with the arguments resolved. */
    public Stream<Case> cases(String function) {
        return cases().filter(golden -> golden.function().equals(function));
    }

    /** All cases, with the arguments resolved. */
    public Stream<Case> cases() {
        return StreamSupport.stream(cases.spliterator(), false).map(node -> new Case(node, inputs));
    }

    /** Fails unless the values agree to {@link #RELATIVE}, relative to the larger, with an absolute floor of 1e-7. */
    public static void assertClose(double[] actual, double[] expected) {
        assertClose(actual, expected, 1e-7);
    }

    /** As {@link #assertClose(double[], double[])}, with another absolute floor. */
    public static void assertClose(double[] actual, double[] expected, double floor) {
        assertThat(actual).hasSameSizeAs(expected);
        for (int i = 0; i < actual.length; i++) {
            double tolerance = Math.max(floor, RELATIVE * Math.abs(expected[i]));
            assertThat(Math.abs(actual[i] - expected[i]))
                    .as("value %d: %s, expected %s", i, actual[i], expected[i])
                    .isLessThanOrEqualTo(tolerance);
        }
    }

    /** Fails unless the value agrees as in {@link #assertClose(double[], double[])}. */
    public static void assertClose(double actual, double expected) {
        assertClose(new double[] {actual}, new double[] {expected});
    }

    /** Fails unless the norm of the difference is at most {@link #RELATIVE} of the larger norm, with an absolute floor of 1e-7. */
    public static void assertCloseByNorm(double[] actual, double[] expected) {
        assertThat(actual).hasSameSizeAs(expected);
        double[] difference = IntStream.range(0, actual.length)
                .mapToDouble(i -> actual[i] - expected[i])
                .toArray();
        assertThat(norm(difference))
                .as("distance from an array of norm %s", norm(expected))
                .isLessThanOrEqualTo(Math.max(1e-7, RELATIVE * norm(expected)));
    }

    private static double norm(double[] values) {
        return Math.sqrt(java.util.Arrays.stream(values).map(v -> v * v).sum());
    }

    /** The rows of a matrix one after the other. */
    public static double[] flat(double[][] rows) {
        return Stream.of(rows).flatMapToDouble(java.util.Arrays::stream).toArray();
    }

    /** One call of a function of the reference and what came out of it. */
    public static final class Case {
        private final JsonNode node;
        private final JsonNode inputs;

        Case(JsonNode node, JsonNode inputs) {
            this.node = node;
            this.inputs = inputs;
        }

        /** The function of the reference. */
        public String function() {
            return node.get("fn").asText();
        }

        /** An argument, or a missing node. */
        public JsonNode arg(String name) {
            JsonNode arg = node.get("args").path(name);
            return arg.isTextual() && arg.asText().startsWith("$")
                    ? inputs.get(arg.asText().substring(1))
                    : arg;
        }

        public boolean has(String arg) {
            return !arg(arg).isMissingNode() && !arg(arg).isNull();
        }

        /** A value of the configuration that the function was given. */
        public double config(String name) {
            return node.get("config").get(name).asDouble();
        }

        /** A switch of the configuration that the function was given. */
        public boolean flag(String name) {
            return node.get("config").get(name).asBoolean();
        }

        /** A value of the configuration, or a default where the function was not given it. */
        public double config(String name, double fallback) {
            return node.path("config").path(name).asDouble(fallback);
        }

        /** A part of the case besides arguments and results, or a missing node. */
        public JsonNode part(String name) {
            return node.path(name);
        }

        /** Totals that the function was given, or a missing node. */
        public JsonNode globalBatchInfo() {
            return node.path("global_batch_info");
        }

        public JsonNode out(String name) {
            return node.get("out").get(name);
        }

        /** Whether the reference raised. */
        public boolean raised() {
            return node.has("error");
        }

        public double[][] matrix(String arg) {
            return Golden.matrix(arg(arg));
        }

        public int[] ints(String arg) {
            return Golden.ints(arg(arg));
        }

        public boolean[] mask(String arg) {
            double[] values = flat(matrix(arg));
            boolean[] mask = new boolean[values.length];
            IntStream.range(0, mask.length).forEach(i -> mask[i] = values[i] != 0);
            return mask;
        }

        @Override
        public String toString() {
            return node.get("fn").asText() + node.get("args");
        }
    }

    /** A matrix of numbers, "nan" among them. */
    public static double[][] matrix(JsonNode node) {
        return StreamSupport.stream(node.spliterator(), false)
                .map(Golden::numbers)
                .toArray(double[][]::new);
    }

    /** A list of numbers, "nan" among them. */
    public static double[] numbers(JsonNode node) {
        return StreamSupport.stream(node.spliterator(), false)
                .mapToDouble(Golden::number)
                .toArray();
    }

    /** A list of integers. */
    public static int[] ints(JsonNode node) {
        return StreamSupport.stream(node.spliterator(), false)
                .mapToInt(JsonNode::asInt)
                .toArray();
    }

    /** A number, or NaN for "nan". */
    public static double number(JsonNode node) {
        return node.isTextual() ? Double.NaN : node.asDouble();
    }
}
