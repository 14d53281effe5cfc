package io.bellows.udfs.reward;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/**
 * 1 for the responses to one prompt whose final answer is the one that most of them give, else 0: a reward without reference answers (TTRL, Zuo et al.,
 * arXiv 2504.16084). Answers agree as in {@link MathMatch}; of two that are equally frequent the earlier one counts.
 *
 * @param place where the answer stands
 */
public record MajorityMatch(AnswerPlace place) implements Serializable {

    /** An answer and the responses that give it. */
    private record Votes(String answer, List<Integer> responses) {}

    /**
     * Scores the responses to one prompt.
     *
     * @param responses a null has no vote
     * @return for each 1 or 0, and NaN for a null
     */
    public double[] scores(List<String> responses) {
        List<Votes> candidates = new ArrayList<>();
        double[] scores = new double[responses.size()];
        for (int i = 0; i < scores.length; i++) {
            if (responses.get(i) == null) {
                scores[i] = Double.NaN;
            } else {
                int response = i;
                place.find(responses.get(i))
                        .filter(answer -> !answer.isBlank())
                        .ifPresent(answer -> vote(answer, response, candidates));
            }
        }
        Votes most = new Votes("", List.of());
        for (Votes candidate : candidates) {
            most = candidate.responses().size() > most.responses().size() ? candidate : most;
        }
        most.responses().forEach(response -> scores[response] = 1);
        return scores;
    }

    private static void vote(String answer, int response, List<Votes> candidates) {
        MathMatch same = new MathMatch(AnswerPlace.WHOLE);
        for (Votes candidate : candidates) {
            if (answer.equals(candidate.answer()) || same.score(answer, List.of(candidate.answer())) == 1) {
                candidate.responses().add(response);
                return;
            }
        }
        candidates.add(new Votes(answer, new ArrayList<>(List.of(response))));
    }
}
