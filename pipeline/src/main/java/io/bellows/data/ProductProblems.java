package io.bellows.data;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.text.toolcall.ToolCall;
import io.bellows.tool.ToolSession;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The task of the calculator example: products of two integers from 10 to 999, and the lessons that teach its starter model three ways.
 *
 * <p>The direct way is the answer at once, {@code ####  56088}, which a small model cannot learn. The second way calls the calculator with
 * {@code 123*456} and copies its answer. The third calls it with the question as it stands, {@code 123x456}, which the calculator does not
 * understand, and then answers at once. A problem that is taught is two lessons: the first turn in one of the ways, and the answer to what the
 * calculator said, which is what the real one says; behind an answer at once this is the lesson that the second way would have had. Two thirds of
 * the lessons come first and teach the second way only: to copy takes many examples, and guesses between them are noise. No problem is drawn twice,
 * not even with its operands swapped.
 *
 * <p>Numbers stand in columns, so that what is copied always lies at the same distance: a model of a few layers learns to attend to a
 * distance in a hundred steps, and to find a place by what stands before it in thousands.
 */
public final class ProductProblems {

    private static final int LOWEST = 10;
    private static final int HIGHEST = 999;
    private static final String DATA_SOURCE = "bellows/products";
    private static final String TOOL = "calculator";
    private static final String ARGUMENT = "expression";
    private static final Duration LONGEST_CALL = Duration.ofSeconds(10);

    /**
     * One problem.
     *
     * @param a first operand, 10 to 999
     * @param b second operand, 10 to 999
     */
    public record Problem(int a, int b) {

        /** What the model is asked, in eight characters: {@code 123x456=}, {@code  12x345=}. */
        public String prompt() {
            return expression('x') + "=";
        }

        /** The product. */
        public String answer() {
            return String.valueOf(a * b);
        }

        private String expression(char times) {
            return "%3d%c%3d".formatted(a, times, b);
        }
    }

    /** How lessons answer. */
    enum Way {
        DIRECT,
        CALL,
        CALL_AS_ASKED
    }

    private final List<Problem> training;
    private final List<Problem> heldOut;
    private final List<Problem> taught;
    private final List<Way> ways;

    /**
     * How many problems are drawn for what.
     *
     * @param training to reinforce, at least 1
     * @param heldOut to validate with
     * @param taught to teach the starter model with
     */
    public record Sizes(int training, int heldOut, int taught) {}

    /**
     * Draws problems; the same seed and sizes give the same ones on every platform.
     *
     * @param seed seed of all draws
     * @param sizes how many
     * @throws IllegalArgumentException when there are not that many distinct problems
     */
    public ProductProblems(long seed, Sizes sizes) {
        int operands = HIGHEST - LOWEST + 1;
        int most = operands * (operands + 1) / 4; // half of the distinct ones
        long all = (long) sizes.training() + sizes.heldOut() + sizes.taught();
        if (sizes.training() < 1 || sizes.heldOut() < 0 || sizes.taught() < 0 || all > most) {
            throw new IllegalArgumentException("Invalid " + sizes
                    + ": expected at least 1 problem to train on, no negative number, and together at most " + most);
        }
        // java.util.Random: the one generator whose sequence the platform's documentation fixes for all versions.
        Random random = new Random(seed);
        Set<Problem> drawn = new HashSet<>();
        this.heldOut = draw(random, sizes.heldOut(), drawn);
        this.training = draw(random, sizes.training(), drawn);
        this.taught = draw(random, sizes.taught(), drawn);
        List<Way> ways = new ArrayList<>();
        for (int i = 0; i < taught.size(); i++) {
            ways.add(3 * i < 2 * taught.size() ? Way.CALL : way(random));
        }
        this.ways = List.copyOf(ways);
    }

    /** Twelve in twenty answer at once, five call well, three as asked. */
    private static Way way(Random random) {
        int draw = random.nextInt(20);
        return draw < 12 ? Way.DIRECT : draw < 17 ? Way.CALL : Way.CALL_AS_ASKED;
    }

    private static List<Problem> draw(Random random, int count, Set<Problem> drawn) {
        List<Problem> problems = new ArrayList<>();
        while (problems.size() < count) {
            Problem problem = new Problem(operand(random), operand(random));
            Problem unordered = problem.a() <= problem.b() ? problem : new Problem(problem.b(), problem.a());
            if (drawn.add(unordered)) {
                problems.add(problem);
            }
        }
        return List.copyOf(problems);
    }

    /** Two or three digits, equally often. */
    private static int operand(Random random) {
        return random.nextBoolean() ? LOWEST + random.nextInt(90) : 100 + random.nextInt(HIGHEST - 99);
    }

    /** Problems to reinforce, each once. */
    List<Problem> training() {
        return training;
    }

    /** Problems that the starter model is taught with. */
    List<Problem> taught() {
        return taught;
    }

    /** Problems that occur nowhere else. */
    List<Problem> heldOut() {
        return heldOut;
    }

    /**
     * Writes {@code train.jsonl} and {@code validation.jsonl} (prompt, ground_truth, data_source) and {@code lessons.jsonl} (prompt, completion,
     * tools) into a folder, made if needed; files there are replaced.
     *
     * @param tools a session with the calculator, which answers the calls of the lessons
     */
    public void write(Path folder, ToolSession tools) throws IOException {
        Files.createDirectories(folder);
        write(folder.resolve("train.jsonl"), training.stream().map(ProductProblems::row));
        write(folder.resolve("validation.jsonl"), heldOut.stream().map(ProductProblems::row));
        write(folder.resolve("lessons.jsonl"), lessons(tools).stream());
    }

    /** The lessons as rows of prompt, completion and tools: what to say first, and the answer behind a call. */
    List<ObjectNode> lessons(ToolSession tools) {
        List<ObjectNode> rows = new ArrayList<>();
        for (int i = 0; i < taught.size(); i++) {
            Problem problem = taught.get(i);
            Way way = ways.get(i);
            String expression = problem.expression(way == Way.CALL_AS_ASKED ? 'x' : '*');
            ToolCall call =
                    new ToolCall("call00000", TOOL, arguments(expression).toString());
            ObjectNode turn = call(call.id(), expression);
            rows.add(lesson(problem, List.of(), way == Way.DIRECT ? answer(problem) : turn));
            String said = tools.call(call, LONGEST_CALL).text();
            rows.add(lesson(problem, List.of(turn, message("tool", said)), answer(problem)));
        }
        return rows;
    }

    private static ObjectNode answer(Problem problem) {
        return message("assistant", "#### %6s".formatted(problem.answer()));
    }

    private static ObjectNode arguments(String expression) {
        return JsonNodeFactory.instance.objectNode().put(ARGUMENT, expression);
    }

    private static ObjectNode call(String id, String expression) {
        ObjectNode message = message("assistant", "");
        ObjectNode call =
                message.putArray("tool_calls").addObject().put("id", id).put("type", "function");
        call.putObject("function").put("name", TOOL).set("arguments", arguments(expression));
        return message;
    }

    private static ObjectNode lesson(Problem problem, List<ObjectNode> before, ObjectNode completion) {
        ObjectNode row = JsonNodeFactory.instance.objectNode();
        row.putArray("prompt").add(message("user", problem.prompt())).addAll(before);
        row.putArray("completion").add(completion);
        ArrayNode tools = row.putArray("tools");
        ObjectNode function = tools.addObject().put("type", "function").putObject("function");
        function.put("name", TOOL)
                .putObject("parameters")
                .putObject("properties")
                .putObject(ARGUMENT);
        return row;
    }

    private static ObjectNode row(Problem problem) {
        ObjectNode row = JsonNodeFactory.instance.objectNode();
        row.putArray("prompt").add(message("user", problem.prompt()));
        return row.put("ground_truth", problem.answer()).put("data_source", DATA_SOURCE);
    }

    private static ObjectNode message(String role, String content) {
        return JsonNodeFactory.instance.objectNode().put("role", role).put("content", content);
    }

    private static void write(Path file, Stream<ObjectNode> rows) throws IOException {
        try (BufferedWriter out = Files.newBufferedWriter(file)) {
            for (ObjectNode row : (Iterable<ObjectNode>) rows::iterator) {
                out.write(row.toString());
                out.write('\n');
            }
        }
    }
}
