package io.bellows.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bellows.SparkTest;
import io.bellows.data.DatasetOptions.Completions;
import io.bellows.data.SumProblems.Problem;
import io.bellows.data.SumProblems.Way;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SumProblemsTest extends SparkTest {

    private static final Pattern STEP = Pattern.compile("(\\d)\\+(\\d)\\+(\\d)=(\\d)(\\d); ");
    private final SumProblems sums = new SumProblems(1, 20_000, 500, 0.6);

    @Test
    void workedAnswersGoThroughTheDigitsWithTheirCarries() {
        assertThat(new Problem(347, 586).prompt()).isEqualTo("347+586=");
        assertThat(new Problem(347, 586).direct()).isEqualTo("#### 933");
        assertThat(new Problem(347, 586).worked()).isEqualTo("7+6+0=13; 4+8+1=13; 3+5+1=09; #### 933");
        assertThat(new Problem(999, 100).worked()).isEqualTo("9+0+0=09; 9+0+0=09; 9+1+0=10; #### 1099");
    }

    @Test
    void noHeldOutProblemOccursInTrainingNotEvenSwapped() {
        Set<Set<Integer>> training = new HashSet<>();
        sums.training().forEach(problem -> training.add(operands(problem)));
        assertThat(training).hasSize(20_000);
        assertThat(sums.heldOut()).hasSize(500);
        assertThat(sums.heldOut()).noneMatch(problem -> training.contains(operands(problem)));
    }

    private static Set<Integer> operands(Problem problem) {
        Set<Integer> operands = new HashSet<>(List.of(problem.a()));
        operands.add(problem.b());
        return operands;
    }

    @Test
    void everyLessonIsCorrectAndShort() {
        for (SumProblems.Lesson lesson : sums.lessons()) {
            String completion = lesson.completion();
            assertThat(completion)
                    .endsWith("#### " + (lesson.problem().a() + lesson.problem().b()));
            assertThat(completion.getBytes(StandardCharsets.UTF_8).length).isLessThan(48);
            Matcher steps = STEP.matcher(completion);
            int carry = 0;
            while (steps.find()) {
                int sum = digit(steps, 1) + digit(steps, 2) + carry;
                assertThat(digit(steps, 3)).isEqualTo(carry);
                assertThat(digit(steps, 4) * 10 + digit(steps, 5)).isEqualTo(sum);
                carry = sum / 10;
            }
        }
        assertThat(sums.lessons().stream().filter(lesson -> lesson.way() == Way.DIRECT))
                .hasSize(12_000);
    }

    private static int digit(Matcher step, int group) {
        return Integer.parseInt(step.group(group));
    }

    @Test
    void theSameSeedWritesTheSameFilesAndTheyLoad(@TempDir Path folder) throws IOException {
        SumProblems few = new SumProblems(3, 200, 50, 0.6);
        few.write(folder.resolve("a"));
        new SumProblems(3, 200, 50, 0.6).write(folder.resolve("b"));
        for (String name : List.of("train.jsonl", "validation.jsonl", "lessons.jsonl")) {
            assertThat(folder.resolve("a").resolve(name))
                    .hasSameTextualContentAs(folder.resolve("b").resolve(name));
        }
        assertThat(Files.readAllLines(folder.resolve("a/train.jsonl"))).hasSize(200);
        DatasetOptions learn = Options.with(DatasetOptions.defaults(), Completions.REQUIRED);
        try (PromptDataset lessons = load(folder.resolve("a/lessons.jsonl"), learn);
                PromptDataset validation = load(folder.resolve("a/validation.jsonl"), DatasetOptions.defaults())) {
            assertThat(lessons.size()).isEqualTo(200);
            assertThat(validation.report().withoutGroundTruth()).isZero();
            assertThat(validation.report().duplicatePrompts()).isZero();
            Row first = validation.rows().orderBy("row_index").first();
            Problem problem = few.heldOut().get(0);
            assertThat(first.<String>getAs("ground_truth")).isEqualTo(problem.answer());
            assertThat(PromptSchema.messages(first, "prompt").get(0).content()).isEqualTo(problem.prompt());
        }
    }

    private static PromptDataset load(Path file, DatasetOptions options) {
        return PromptDataset.load(spark, List.of(file.toString()), options, () -> (prompt, tools) -> 1);
    }

    @Test
    void moreProblemsThanThereAreIsRefused() {
        assertThatThrownBy(() -> new SumProblems(1, 400_000, 500, 0.6))
                .hasMessageStartingWith("Invalid numbers of problems 400000 and 500");
    }
}
