package io.bellows.env;

import io.bellows.reward.ThinkParser;
import io.bellows.reward.UnscoredException;
import io.bellows.text.Message;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

/**
 * Asks a model whether the answer is right: a part of a {@link Rubric}. Keep one for all trajectories, in the {@link EnvironmentFactory}: what it was asked
 * before it answers from memory. A subclass words the question ({@link #question}) and reads the answer ({@link #verdict}).
 *
 * <p>A judge that cannot be reached, is too slow or says something else leaves the trajectory unscored, with the reason; never 0. The first two count as the
 * metric {@code judge_outages} and are asked again the next time. The judge reads what the model wrote, which may try to talk it into a verdict.
 */
public class JudgeRubric {

    private static final ThinkParser BEHIND_THOUGHTS = new ThinkParser(ThinkParser.Thoughts.OPTIONAL);

    private static final String QUESTION = """
            Question:
            %s

            Correct answer:
            %s

            Response:
            %s

            Is the response correct? Say yes or no, and nothing else.""";

    /**
     * How it asks.
     *
     * @param maxTokens most tokens of the judge's answer, at least 1
     * @param timeout the longest it waits for an answer; the deadline of the trajectory holds besides
     * @param remembered how many answers it keeps in memory, at least 1; the ones used longest ago go first
     */
    public record Settings(int maxTokens, Duration timeout, int remembered) {

        /** 512 tokens, one minute, 10,000 answers. */
        public static Settings defaults() {
            return new Settings(512, Duration.ofMinutes(1), 10_000);
        }
    }

    private final ModelClient judge;
    private final Function<List<Message>, int[]> encoder;
    private final Settings settings;
    private final Map<String, CompletableFuture<String>> asked;

    /** A judge that takes messages, such as a server. */
    public JudgeRubric(ModelClient judge) {
        this(judge, messages -> new int[0], Settings.defaults());
    }

    /**
     * A judge.
     *
     * @param judge the model; safe for several threads, as all are
     * @param encoder gives the ids of a conversation, for a judge that takes ids
     * @param settings how it asks
     */
    public JudgeRubric(ModelClient judge, Function<List<Message>, int[]> encoder, Settings settings) {
        this.judge = judge;
        this.encoder = encoder;
        this.settings = settings;
        this.asked = new LinkedHashMap<>(16, 0.75f, true) {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<String, CompletableFuture<String>> eldest) {
                return size() > settings.remembered();
            }
        };
    }

    /** What the judge makes of the trajectory. */
    @Reward
    protected double judge(State state) throws InterruptedException {
        return verdict(ask(question(state), state));
    }

    /** What the judge is asked: as a rule whether the last response is right, given the prompt's last message and the reference answer. */
    protected String question(State state) {
        String response = Rubric.response(state.completion());
        if (response == null || state.answer() == null) {
            throw new UnscoredException(response == null ? "no response" : "no reference answer");
        }
        String prompt = state.prompt().get(state.prompt().size() - 1).content();
        return QUESTION.formatted(prompt, state.answer(), response);
    }

    /**
     * The reward for what the judge said: as a rule 1 for yes and 0 for no, behind any thought.
     *
     * @throws UnscoredException where it said something else
     */
    protected double verdict(String answer) {
        String said = BEHIND_THOUGHTS.parse(answer).orElse("").toLowerCase(Locale.ROOT);
        int end = 0;
        while (end < said.length() && Character.isLetter(said.charAt(end))) {
            end++;
        }
        return switch (said.substring(0, end)) {
            case "yes" -> 1;
            case "no" -> 0;
            default ->
                throw new UnscoredException(
                        "the judge said neither yes nor no: " + said.substring(0, Math.min(80, said.length())));
        };
    }

    /**
     * The judge's answer to a question, from memory where it was asked before.
     *
     * @throws UnscoredException where there is none
     */
    protected final String ask(String question, State state) throws InterruptedException {
        CompletableFuture<String> answer;
        boolean first;
        synchronized (asked) {
            CompletableFuture<String> known = asked.get(question);
            first = known == null;
            answer = first ? new CompletableFuture<>() : known;
            if (first) {
                asked.put(question, answer);
            }
        }
        if (first) {
            send(question, state, answer);
        }
        try {
            return answer.get(settings.timeout().toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw outage(String.valueOf(e.getCause().getMessage()), state);
        } catch (TimeoutException e) {
            answer.completeExceptionally(e);
            throw outage("no answer in " + settings.timeout().toMillis() + " ms", state);
        }
    }

    /** Asks; an answer that fails, also by the impatience of who waits for it, is forgotten. */
    @SuppressWarnings("FutureReturnValueIgnored") // what fails goes on to the answer
    private void send(String question, State state, CompletableFuture<String> answer) {
        List<Message> messages = List.of(Message.of("user", question));
        ModelClient.Call call = null;
        try {
            call = judge.generate(
                    new ModelRequest(state.id(), 0, messages, null, encoder.apply(messages), settings.maxTokens()));
        } catch (RuntimeException e) {
            answer.completeExceptionally(e);
        }
        ModelClient.Call sent = call;
        answer.whenComplete((text, failure) -> {
            if (failure != null) {
                forget(question, answer);
                if (sent != null) {
                    sent.abort();
                }
            }
        });
        if (sent != null) {
            sent.turn().whenComplete((turn, failure) -> {
                if (failure != null) {
                    answer.completeExceptionally(failure);
                } else if (turn.finish() == ModelTurn.Finish.ABORT) {
                    answer.completeExceptionally(new ModelException("the answer was aborted", null));
                } else {
                    answer.complete(turn.text());
                }
            });
        }
    }

    private void forget(String question, CompletableFuture<String> answer) {
        synchronized (asked) {
            asked.remove(question, answer);
        }
    }

    private static UnscoredException outage(String why, State state) {
        state.addMetric("judge_outages", 1);
        return new UnscoredException("the judge cannot be asked: " + MultiTurnEnv.text(why));
    }
}
