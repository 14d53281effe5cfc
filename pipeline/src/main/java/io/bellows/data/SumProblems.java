package io.bellows.data;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/**
 * The task of the starter model: sums of two integers from 100 to 999, and the lessons that teach it two ways.
 *
 * <p>The direct way is the answer at once, {@code #### 933}. The worked way goes through the digits from the right, each
 * step the two digits, the carry that comes in, and their sum in two digits, whose first is the carry that goes out:
 * {@code 7+6+0=13; 4+8+1=13; 3+5+1=09; #### 933}. Every step has the same form, and the answer is copied from the steps.
 * Every completion is correct. Problems are distinct as unordered pairs, so no held-out problem occurs in training, not even
 * with its operands swapped.
 */
public final class SumProblems {

    private static final int LOWEST = 100;
    private static final int HIGHEST = 999;
    private static final String DATA_SOURCE = "bellows/sums";

    /**
     * One problem.
     *
     * @param a first operand, 100 to 999
     * @param b second operand, 100 to 999
     */
    public record Problem(int a, int b) {

        /** What the model is asked: {@code 347+586=}. */
        public String prompt() {
            return a + "+" + b + "=";
        }

        /** The sum. */
        public String answer() {
            return String.valueOf(a + b);
        }

        /** The answer at once. */
        public String direct() {
            return "#### " + answer();
        }

        /** The digits from the right with their carries, then the answer; at most 39 characters. */
        public String worked() {
            StringBuilder text = new StringBuilder();
            int carry = 0;
            for (int power = 1; power <= 100; power *= 10) {
                int digitA = a / power % 10;
                int digitB = b / power % 10;
                int sum = digitA + digitB + carry;
                text.append("%d+%d+%d=%02d; ".formatted(digitA, digitB, carry, sum));
                carry = sum / 10;
            }
            return text.append(direct()).toString();
        }
    }

    /** How a lesson answers. */
    public enum Way {
        DIRECT,
        WORKED
    }

    /**
     * A problem with the answer that is taught.
     *
     * @param problem the problem
     * @param way how it is answered
     */
    public record Lesson(Problem problem, Way way) {

        /** What the model learns to say. */
        public String completion() {
            return way == Way.DIRECT ? problem.direct() : problem.worked();
        }
    }

    private final List<Problem> training;
    private final List<Problem> heldOut;
    private final List<Lesson> lessons;

    /**
     * Draws problems and lessons; the same seed and sizes give the same ones on every platform.
     *
     * @param seed seed of all draws
     * @param trainingProblems number of training problems
     * @param heldOutProblems number of held-out problems
     * @param directShare share of the training problems whose lesson is the direct way, 0 to 1; the others are worked
     * @throws IllegalArgumentException when there are not that many distinct problems
     */
    public SumProblems(long seed, int trainingProblems, int heldOutProblems, double directShare) {
        int operands = HIGHEST - LOWEST + 1;
        int distinct = operands * (operands + 1) / 2;
        if (trainingProblems < 1 || heldOutProblems < 0 || (long) trainingProblems + heldOutProblems > distinct / 2) {
            throw new IllegalArgumentException("Invalid numbers of problems " + trainingProblems + " and "
                    + heldOutProblems + ": expected at least 1 and 0, together at most " + distinct / 2);
        }
        if (!(directShare >= 0 && directShare <= 1)) {
            throw new IllegalArgumentException("Invalid share " + directShare + ": expected 0 to 1");
        }
        // java.util.Random: the one generator whose sequence the platform's documentation fixes for all versions.
        Random random = new Random(seed);
        Set<Problem> drawn = new HashSet<>();
        this.heldOut = draw(random, heldOutProblems, drawn);
        this.training = draw(random, trainingProblems, drawn);
        this.lessons = lessons(random, training, directShare);
    }

    /** Problems to train on, each once. */
    public List<Problem> training() {
        return training;
    }

    /** Problems that occur nowhere in training. */
    public List<Problem> heldOut() {
        return heldOut;
    }

    /** A lesson for every training problem, in the same order. */
    public List<Lesson> lessons() {
        return lessons;
    }

    /**
     * Writes {@code train.jsonl} and {@code validation.jsonl} (prompt, ground_truth, data_source) and {@code lessons.jsonl}
     * (prompt, completion) into a folder, made if needed; files there are replaced.
     */
    public void write(Path folder) throws IOException {
        Files.createDirectories(folder);
        write(
                folder.resolve("train.jsonl"),
                training.stream().map(SumProblems::row).toList());
        write(
                folder.resolve("validation.jsonl"),
                heldOut.stream().map(SumProblems::row).toList());
        write(
                folder.resolve("lessons.jsonl"),
                lessons.stream().map(SumProblems::row).toList());
    }

    private static ObjectNode row(Problem problem) {
        ObjectNode row = JsonNodeFactory.instance.objectNode();
        message(row, "prompt", "user", problem.prompt());
        return row.put("ground_truth", problem.answer()).put("data_source", DATA_SOURCE);
    }

    private static ObjectNode row(Lesson lesson) {
        ObjectNode row = JsonNodeFactory.instance.objectNode();
        message(row, "prompt", "user", lesson.problem().prompt());
        message(row, "completion", "assistant", lesson.completion());
        return row;
    }

    private static void message(ObjectNode row, String column, String role, String content) {
        row.putArray(column).addObject().put("role", role).put("content", content);
    }

    private static void write(Path file, List<ObjectNode> rows) throws IOException {
        try (BufferedWriter out = Files.newBufferedWriter(file)) {
            for (ObjectNode row : rows) {
                out.write(row.toString());
                out.write('\n');
            }
        }
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

    private static int operand(Random random) {
        return LOWEST + random.nextInt(HIGHEST - LOWEST + 1);
    }

    private static List<Lesson> lessons(Random random, List<Problem> problems, double directShare) {
        List<Way> ways = new ArrayList<>();
        long direct = Math.round(problems.size() * directShare);
        for (int i = 0; i < problems.size(); i++) {
            ways.add(i < direct ? Way.DIRECT : Way.WORKED);
        }
        Collections.shuffle(ways, random);
        List<Lesson> lessons = new ArrayList<>();
        for (int i = 0; i < problems.size(); i++) {
            lessons.add(new Lesson(problems.get(i), ways.get(i)));
        }
        return List.copyOf(lessons);
    }
}
