package io.bellows.env;

import static org.assertj.core.api.Assertions.assertThat;

import io.bellows.env.JudgeRubric.Settings;
import io.bellows.reward.RewardOutcome.Status;
import io.bellows.text.Message;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class JudgeRubricTest extends EnvironmentTest {

    private static ScriptedModel judging(String verdict) {
        return new ScriptedModel(
                request -> CompletableFuture.completedFuture(ScriptedModel.turn(chat.tokenizer(), request, verdict)));
    }

    private static MultiTurnEnv judgedBy(JudgeRubric judge) {
        return new SingleTurnEnv() {
            @Override
            protected Rubric rubric() {
                return Rubric.of(judge);
            }
        };
    }

    @Test
    void theJudgeReadsQuestionReferenceAndResponse() throws Exception {
        ScriptedModel judge = judging("Yes.");
        JudgeRubric rubric =
                new JudgeRubric(judge, messages -> chat.tokenizer().encodeContent("ids"), Settings.defaults());
        State state = rollOut(judgedBy(rubric), saying("four"));
        assertThat(state.score().score().reward()).isEqualTo(1);
        List<Message> asked = judge.requests.get(0).messages();
        assertThat(asked).extracting(Message::role).containsExactly("user");
        assertThat(asked.get(0).content()).contains("Question:\nhello", "Correct answer:\n4", "Response:\nfour");
        assertThat(judge.requests.get(0).promptIds()).isEqualTo(chat.tokenizer().encodeContent("ids"));
    }

    @Test
    void noIsZeroAndAnythingElseIsUnscored() throws Exception {
        assertThat(verdict("<think>yes?</think>No, it is not").reward()).isZero();
        assertThat(verdict("nothing of the kind").reward()).isNull();
        assertThat(verdict("nothing of the kind").status()).isEqualTo(Status.UNSCORED);
        assertThat(verdict("").message()).startsWith("judge: the judge said neither yes nor no");
    }

    private io.bellows.reward.RewardScore verdict(String said) throws Exception {
        return rollOut(judgedBy(new JudgeRubric(judging(said))), saying("4"))
                .score()
                .score();
    }

    @Test
    void theSameQuestionIsAskedOnce() throws Exception {
        ScriptedModel judge = judging("yes");
        JudgeRubric rubric = new JudgeRubric(judge, messages -> new int[0], new Settings(5, Duration.ofSeconds(10), 1));
        for (String answer : List.of("4", "4", "5", "4")) {
            assertThat(rollOut(judgedBy(rubric), saying(answer)).score().score().reward())
                    .isEqualTo(1);
        }
        assertThat(judge.requests).hasSize(3); // it remembers one answer
    }

    @Test
    void anOutageIsUnscoredNeverZeroAndTheQuestionIsAskedAgain() throws Exception {
        CompletableFuture<Boolean> mended = new CompletableFuture<>();
        ScriptedModel judge = new ScriptedModel(request -> mended.isDone()
                ? CompletableFuture.completedFuture(ScriptedModel.turn(chat.tokenizer(), request, "yes"))
                : CompletableFuture.failedFuture(new ModelException("HTTP 503", null)));
        JudgeRubric rubric = new JudgeRubric(judge);
        State during = rollOut(judgedBy(rubric), saying("4"));
        assertThat(during.score().score().reward()).isNull();
        assertThat(during.score().score().status()).isEqualTo(Status.UNSCORED);
        assertThat(during.score().score().message()).isEqualTo("judge: the judge cannot be asked: HTTP 503");
        assertThat(during.metrics()).containsEntry("judge_outages", 1.0);
        assertThat(during.outcome().status()).isEqualTo(io.bellows.trajectory.Outcome.Status.COMPLETED);
        mended.complete(true);
        assertThat(rollOut(judgedBy(rubric), saying("4")).score().score().reward())
                .isEqualTo(1);
    }

    @Test
    void aJudgeThatIsTooSlowIsAnOutageAndItsCallIsAborted() throws Exception {
        CompletableFuture<ModelTurn> never = new CompletableFuture<>();
        JudgeRubric rubric = new JudgeRubric(
                new ScriptedModel(request -> never), messages -> new int[0], new Settings(5, Duration.ofMillis(50), 9));
        State state = rollOut(judgedBy(rubric), saying("4"));
        assertThat(state.score().score().status()).isEqualTo(Status.UNSCORED);
        assertThat(state.score().score().message()).contains("no answer in 50 ms");
        assertThat(never).isCancelled();
    }

    @Test
    void theDeadlineOfTheTrajectoryCoversTheJudge() throws Exception {
        JudgeRubric rubric = new JudgeRubric(new ScriptedModel(request -> new CompletableFuture<>()));
        State state = rollOut(judgedBy(rubric), state(within(Duration.ofSeconds(2))), saying("4"));
        assertThat(state.score() == null || state.score().score().reward() == null)
                .isTrue();
        assertThat(state.metrics()).doesNotContainKey("abandoned");
    }
}
