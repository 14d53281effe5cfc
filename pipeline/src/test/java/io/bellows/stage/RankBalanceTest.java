package io.bellows.stage;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Groups stay whole on a rank unless the busiest rank would have more work for it. */
class RankBalanceTest {

    private final Map<String, List<RankBalance.Sequence>> sequences = new HashMap<>();
    private final List<List<String>> groups = new ArrayList<>();

    @Test
    void groupsStayWholeWhereThereAreEnough() {
        for (int group = 0; group < 8; group++) {
            group(8, 100, 100 + 10 * group);
        }

        Map<String, Integer> dealt = deal(3);

        assertThat(groups).allSatisfy(group -> assertThat(ranksOf(group, dealt)).hasSize(1));
        assertThat(work(dealt, 3)).allSatisfy(tokens -> assertThat(tokens).isBetween(2600L, 3500L));
    }

    @Test
    void aGroupIsTakenApartWhereRanksWouldHaveNone() {
        group(8, 100, 50);
        group(8, 100, 50);

        Map<String, Integer> dealt = deal(4);

        assertThat(ranksOf(dealt.keySet(), dealt)).containsExactly(0, 1, 2, 3);
    }

    @Test
    void threeGroupsOnTwoRanksAreTakenApartForLongResponsesAndNotForLongPrompts() {
        for (int group = 0; group < 3; group++) {
            group(8, 20, 300);
        }
        assertThat(work(deal(2), 2)).containsExactly(3 * 20 + 12 * 300L, 3 * 20 + 12 * 300L);

        groups.clear();
        for (int group = 0; group < 3; group++) {
            group(4, 1000, 10);
        }
        Map<String, Integer> dealt = deal(2);
        assertThat(groups).allSatisfy(group -> assertThat(ranksOf(group, dealt)).hasSize(1));
    }

    @Test
    void segmentsOfATrajectoryCountTogetherAndAPromptThatTwoGroupsShareOnce() {
        group(2, 10, 10);
        group(1, 10, 10);
        sequences.put(
                groups.get(1).get(0),
                List.of(
                        new RankBalance.Sequence(77, 10, 60),
                        new RankBalance.Sequence(78, 30, 60),
                        new RankBalance.Sequence(78, 30, 60)));

        Map<String, Integer> dealt = deal(2);

        assertThat(dealt.get(groups.get(0).get(0)))
                .isEqualTo(dealt.get(groups.get(0).get(1)))
                .isNotEqualTo(dealt.get(groups.get(1).get(0)));
        assertThat(work(dealt, 2)).containsExactlyInAnyOrder(30L, 60L + 30 + 30 + 30);
    }

    @Test
    void oneRankHasAllAndFewerTrajectoriesThanRanksLeaveSomeWithout() {
        group(2, 10, 10);

        assertThat(deal(1).values()).containsExactly(0, 0);
        assertThat(ranksOf(deal(5).keySet(), deal(5))).containsExactly(0, 1);
    }

    private void group(int samples, int prompt, int response) {
        int group = groups.size();
        List<String> ids = new ArrayList<>();
        for (int sample = 0; sample < samples; sample++) {
            String id = "run/1/" + group + "/" + sample;
            sequences.put(id, List.of(new RankBalance.Sequence(group, prompt, prompt + response)));
            ids.add(id);
        }
        groups.add(ids);
    }

    private Map<String, Integer> deal(int ranks) {
        return new RankBalance(sequences, ranks).deal(groups);
    }

    private static Set<Integer> ranksOf(Iterable<String> ids, Map<String, Integer> dealt) {
        Set<Integer> ranks = new TreeSet<>();
        ids.forEach(id -> ranks.add(dealt.get(id)));
        return ranks;
    }

    /** Tokens that each rank computes. */
    private List<Long> work(Map<String, Integer> dealt, int ranks) {
        List<Long> work = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            Set<Long> prompts = new TreeSet<>();
            long tokens = 0;
            for (Map.Entry<String, Integer> entry : dealt.entrySet()) {
                if (entry.getValue() == rank) {
                    for (RankBalance.Sequence sequence : sequences.get(entry.getKey())) {
                        tokens += sequence.length() - (prompts.add(sequence.prompt()) ? 0 : sequence.promptLength());
                    }
                }
            }
            work.add(tokens);
        }
        return work;
    }
}
