package io.bellows.udfs.reward;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class MajorityMatchTest {

    private static final MajorityMatch MAJORITY = new MajorityMatch(AnswerPlace.AUTO);

    @Test
    void answersThatMeanTheSameVoteTogether() {
        assertThat(MAJORITY.scores(List.of("#### 2", "#### 0.5", "\\boxed{\\frac12}")))
                .containsExactly(0, 1, 1);
        assertThat(MAJORITY.scores(List.of("#### north", "#### South", "#### south")))
                .containsExactly(0, 1, 1);
    }

    @Test
    void ofTwoThatAreEquallyFrequentTheEarlierCounts() {
        assertThat(MAJORITY.scores(List.of("#### 2", "#### 3", "#### 3", "#### 2")))
                .containsExactly(1, 0, 0, 1);
        assertThat(MAJORITY.scores(List.of("#### 7"))).containsExactly(1);
    }

    @Test
    void whatHasNoAnswerHasNoVote() {
        MajorityMatch boxed = new MajorityMatch(AnswerPlace.BOXED);
        assertThat(boxed.scores(Arrays.asList("2", "2", null, "\\boxed{}", "\\boxed{3}")))
                .containsExactly(0, 0, Double.NaN, 0, 1);
        assertThat(boxed.scores(List.of("2", "2"))).containsExactly(0, 0);
        assertThat(boxed.scores(List.of())).isEmpty();
    }
}
