package io.bellows.env;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.reward.Parser;
import io.bellows.reward.RewardOutcome.Status;
import io.bellows.reward.UnscoredException;
import io.bellows.reward.XmlParser;
import io.bellows.text.Message;
import io.bellows.trajectory.Score;
import java.util.List;
import org.junit.jupiter.api.Test;

@SuppressWarnings("UnusedMethod") // found by their annotations
class RubricTest extends EnvironmentTest {

    private Score score(Rubric rubric, String answer, ObjectNode columns) throws Exception {
        MultiTurnEnv environment = new SingleTurnEnv() {
            @Override
            protected Rubric rubric() {
                return rubric;
            }
        };
        return rollOut(environment, state(ROOMY, 0, example(columns)), saying(answer))
                .score();
    }

    private Score score(Rubric rubric, String answer) throws Exception {
        return score(rubric, answer, JsonNodeFactory.instance.objectNode());
    }

    private static final class Right {
        @Reward(weight = 0.1)
        double right(String response, String answer) {
            return response.equals(answer) ? 1 : 0;
        }
    }

    private static final class Brief {
        @Reward(weight = 0.7)
        double brief(String response) {
            return response.length() / 3.0;
        }

        @Metric
        double characters(String response) {
            return response.length();
        }
    }

    private static final class AlsoRight {
        @Metric
        double right() {
            return 1;
        }
    }

    @Test
    void theOrderOfRubricsChangesNothing() throws Exception {
        Rubric right = Rubric.of(new Right());
        Rubric brief = Rubric.of(new Brief());
        Score first = score(RubricGroup.of(right, brief), "4");
        Score second = score(RubricGroup.of(brief, right), "4");
        assertThat(first).isEqualTo(second);
        assertThat(first.score().reward()).isEqualTo(0.7 / 3.0 + 0.1);
        assertThat(first.metrics()).containsOnlyKeys("characters").containsEntry("characters", 1.0);
        assertThat(List.copyOf(first.score().components().keySet())).containsExactly("brief", "right");
    }

    @Test
    void aRubricWithoutRewardsAddsNothing() throws Exception {
        Rubric empty = Rubric.of(new Object());
        assertThat(score(RubricGroup.of(empty, Rubric.of(new Right()), RubricGroup.of()), "4"))
                .isEqualTo(score(Rubric.of(new Right()), "4"));
        assertThat(score(empty, "4")).isNull();
    }

    @Test
    void aNameThatTwoRubricsUseIsRefusedNamingBoth() {
        Rubric right = Rubric.of(new Right());
        Rubric also = Rubric.of(new AlsoRight());
        assertThatThrownBy(() -> RubricGroup.of(right, also))
                .hasMessageStartingWith("Invalid rubric: two rewards are called 'right'")
                .hasMessageContaining(Right.class.getName())
                .hasMessageContaining(AlsoRight.class.getName());
        assertThatThrownBy(() -> Rubric.of(new AlsoRight(), new Right()))
                .hasMessageContaining(Right.class.getName())
                .hasMessageContaining(AlsoRight.class.getName());
    }

    /** Asks its rubric's parser. */
    private static final class Parsed {
        @Reward
        Double parsed(List<Message> completion, Parser parser, String answer) {
            return parser.parseAnswer(completion)
                    .map(said -> said.equals(answer) ? 1.0 : 0.0)
                    .orElse(null);
        }
    }

    @Test
    void aRewardIsGivenTheParserOfItsRubricAlsoInAGroup() throws Exception {
        String said = "<reasoning>2+2</reasoning><answer> 4 </answer>";
        assertThat(score(Rubric.of(new Parsed()), said).score().reward()).isZero();
        assertThat(score(Rubric.of(new Parsed()), "4").score().reward()).isEqualTo(1);
        Rubric tagged = Rubric.of(new Parsed()).with(new XmlParser(List.of("reasoning", "answer"), "answer"));
        assertThat(score(tagged, said).score().reward()).isEqualTo(1);
        assertThat(score(RubricGroup.of(Rubric.of(new Right()), tagged), said)
                        .score()
                        .reward())
                .isEqualTo(1);
        // Complaint 43: with the wrong parser everything was 0; here there is nothing to say, and it is said.
        assertThat(score(tagged, "4").score().status()).isEqualTo(Status.UNSCORED);
        assertThat(score(tagged, "4").score().reward()).isNull();
    }

    /** One fault of every kind, in the column {@code fault}. */
    private static final class Faulty {
        @Reward
        Double faulty(String fault) {
            return switch (fault) {
                case "nothing" -> null;
                case "unscored" -> throw new UnscoredException("no judge");
                case "nan" -> Double.NaN;
                case "error" -> throw new StackOverflowError();
                default -> throw new IllegalStateException("no connection");
            };
        }
    }

    @Test
    void aRewardThatCannotSayAndOneThatFailsAreToldApartAndNeitherIsZero() throws Exception {
        Rubric rubric = RubricGroup.of(Rubric.of(new Faulty()), Rubric.of(new Right()));
        for (String fault : List.of("nothing", "unscored")) {
            Score score =
                    score(rubric, "4", JsonNodeFactory.instance.objectNode().put("fault", fault));
            assertThat(score.score().reward()).as(fault).isNull();
            assertThat(score.score().status()).as(fault).isEqualTo(Status.UNSCORED);
            assertThat(score.score().components()).containsEntry("faulty", null).containsEntry("right", 1.0);
        }
        for (String fault : List.of("nan", "error", "exception")) {
            Score score =
                    score(rubric, "4", JsonNodeFactory.instance.objectNode().put("fault", fault));
            assertThat(score.score().reward()).as(fault).isNull();
            assertThat(score.score().status()).as(fault).isEqualTo(Status.FAILED);
        }
        assertThat(score(rubric, "4", JsonNodeFactory.instance.objectNode().put("fault", "unscored"))
                        .score()
                        .message())
                .isEqualTo("faulty: no judge");
    }

    @Test
    void mathIsJudgedBehindTheThoughtAndInTheBox() throws Exception {
        Rubric math = Rubric.of(new MathRubric());
        assertThat(score(math, "<think>\\boxed{5}?</think> \\boxed{\\frac{8}{2}}")
                        .score()
                        .reward())
                .isEqualTo(1);
        assertThat(score(math, "\\boxed{5}").score().reward()).isZero();
        assertThat(score(math, "4").score().reward()).isZero();
        assertThat(score(math, "<think> \\boxed{4}").score().reward()).isZero();
        assertThat(score(math, "\\boxed{9^9^9^9}").score().reward()).isZero();
    }
}
