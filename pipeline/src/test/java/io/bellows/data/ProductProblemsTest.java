package io.bellows.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.data.ProductProblems.Problem;
import io.bellows.data.ProductProblems.Sizes;
import io.bellows.tool.ToolRegistry;
import io.bellows.tool.ToolSession;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProductProblemsTest {

    private static ToolSession calculator() throws IOException {
        return ToolRegistry.builder()
                .nativeTools("calculator.yaml", Files.readString(Path.of("../conf/tools/calculator.yaml")))
                .build()
                .open(null, null, String::length, Duration.ofMinutes(1));
    }

    @Test
    void noHeldOutProblemOccursInTrainingNotEvenSwapped() {
        ProductProblems problems = new ProductProblems(1, new Sizes(3_000, 200, 2_000));
        Set<Set<Integer>> training = new HashSet<>();
        problems.training().forEach(problem -> training.add(operands(problem)));
        problems.taught().forEach(problem -> training.add(operands(problem)));
        assertThat(training).hasSize(5_000);
        assertThat(problems.heldOut()).hasSize(200);
        assertThat(problems.heldOut()).noneMatch(problem -> training.contains(operands(problem)));
        assertThat(problems.training()).allSatisfy(problem -> {
            assertThat(problem.a()).isBetween(10, 999);
            assertThat(problem.b()).isBetween(10, 999);
        });
    }

    private static Set<Integer> operands(Problem problem) {
        Set<Integer> operands = new HashSet<>(List.of(problem.a()));
        operands.add(problem.b());
        return operands;
    }

    @Test
    void whatTheCalculatorSaysInALessonIsWhatItSays() throws IOException {
        int right = 0;
        int wrong = 0;
        try (ToolSession tools = calculator()) {
            for (ObjectNode lesson : new ProductProblems(1, new Sizes(1, 0, 120)).lessons(tools)) {
                JsonNode said = lesson.at("/prompt/2/content");
                String completion = lesson.at("/completion/0/content").asText();
                if (said.asText().startsWith("Error: ")) {
                    wrong++;
                    assertThat(lesson.at("/prompt/1/tool_calls/0/function/arguments/expression")
                                    .asText())
                            .contains("x");
                } else if (!said.isMissingNode()) {
                    right++;
                    assertThat(completion).isEqualTo("#### %6s".formatted(said.asText()));
                }
            }
        }
        assertThat(right).isPositive();
        assertThat(wrong).isPositive();
    }

    @Test
    void theSameSeedWritesTheSameFiles(@TempDir Path folder) throws IOException {
        try (ToolSession tools = calculator()) {
            new ProductProblems(3, new Sizes(50, 20, 30)).write(folder.resolve("a"), tools);
            new ProductProblems(3, new Sizes(50, 20, 30)).write(folder.resolve("b"), tools);
        }
        for (String name : List.of("train.jsonl", "validation.jsonl", "lessons.jsonl")) {
            assertThat(folder.resolve("a").resolve(name))
                    .hasSameTextualContentAs(folder.resolve("b").resolve(name));
        }
        assertThat(Files.readAllLines(folder.resolve("a/train.jsonl"))).hasSize(50);
        assertThat(Files.readAllLines(folder.resolve("a/lessons.jsonl"))).hasSize(60);
    }

    @Test
    void moreProblemsThanThereAreIsRefused() {
        assertThatThrownBy(() -> new ProductProblems(1, new Sizes(200_000, 500, 100_000)))
                .hasMessageStartingWith("Invalid Sizes[training=200000, heldOut=500, taught=100000]")
                .hasMessageContaining("together at most 245272");
    }
}
