package io.bellows.tool;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;

/** One tool in one trajectory: its instance, and what became of it. */
final class OpenTool {

    private final Tool tool;
    private final ToolKwargs kwargs;
    private final ToolLimits limits;
    private final AbandonableCalls calls;
    private final Map<Class<?>, Object> shared;

    private volatile NativeTool instance;
    private ToolError setupError;
    private AbandonableCalls.Running<?> stuck;

    OpenTool(Tool tool, ToolKwargs kwargs, ToolLimits limits, AbandonableCalls calls, Map<Class<?>, Object> shared) {
        this.tool = tool;
        this.kwargs = kwargs;
        this.limits = limits;
        this.calls = calls;
        this.shared = shared;
    }

    String name() {
        return tool.name();
    }

    ObjectNode schema() {
        return tool.schema().deepCopy();
    }

    /** What may not be used by two threads at once; null when nothing needs such care. */
    Object state() {
        return instance instanceof FunctionToolMethod function ? function.owner() : this;
    }

    void create(Duration remaining) {
        setupError = run(remaining, () -> {
                    instance = tool.instances().newInstance(shared);
                    instance.create(kwargs.create());
                    return Answer.of(ToolResponse.of(""));
                })
                .error();
    }

    Answer execute(ObjectNode arguments, Duration remaining) {
        if (setupError != null) {
            return Answer.error(
                    ToolError.Kind.INFRASTRUCTURE,
                    "Cannot set up the tool " + name() + ": " + setupError.message(),
                    "the tool " + name() + " is not available");
        }
        return run(remaining, () -> {
            String problems = tool.arguments().problems(arguments);
            return problems.isEmpty()
                    ? Answer.of(AnswerText.response(instance.execute(arguments, kwargs.execute())))
                    : Answer.error(ToolError.Kind.INVALID_ARGUMENTS, "invalid arguments: " + problems);
        });
    }

    /** The reward, as that of an answer. */
    Answer calcReward(Duration remaining) {
        if (setupError != null) {
            return new Answer(ToolResponse.of(""), setupError);
        }
        return run(remaining, () -> {
            Double reward = instance.calcReward(kwargs.calcReward());
            return Answer.of(AnswerText.response(new ToolResponse("", reward, Map.of())));
        });
    }

    /** Releases the instance, later if a call still goes on in it; the error of a release that failed, or null. */
    ToolError release() {
        if (instance == null) {
            return null;
        }
        Callable<Answer> release = () -> {
            instance.release(kwargs.release());
            return Answer.of(ToolResponse.of(""));
        };
        if (stuck != null && stuck.whenItEnds(() -> answered(release))) {
            return null;
        }
        return answer(
                        calls.runAlways(name(), () -> answered(release), limits.releaseTimeout()),
                        limits.releaseTimeout())
                .error();
    }

    private Answer run(Duration remaining, Callable<Answer> work) {
        if (stuck != null && stuck.goesOn() && state() != null) {
            return Answer.error(ToolError.Kind.TIMEOUT, "the tool is still busy with an earlier call");
        }
        Duration limit = remaining.compareTo(limits.timeout()) < 0 ? remaining : limits.timeout();
        if (limit.isNegative() || limit.isZero()) {
            return Answer.error(ToolError.Kind.TIMEOUT, "no time is left");
        }
        return answer(calls.run(name(), () -> answered(work), limit), limit);
    }

    private Answer answer(AbandonableCalls.Outcome<Answer> outcome, Duration limit) {
        if (outcome instanceof AbandonableCalls.Returned<Answer> returned) {
            return returned.value();
        } else if (outcome instanceof AbandonableCalls.Threw<Answer> threw) {
            return Answer.thrown(threw.thrown());
        } else if (outcome instanceof AbandonableCalls.Late<Answer> late) {
            stuck = late.running() == null ? stuck : late.running();
            return late.callerInterrupted()
                    ? Answer.error(ToolError.Kind.INFRASTRUCTURE, "the trajectory was interrupted")
                    : Answer.error(ToolError.Kind.TIMEOUT, "no answer within " + limit.toMillis() + " ms");
        }
        return Answer.error(
                ToolError.Kind.INFRASTRUCTURE,
                "Cannot run " + name() + ": " + calls.abandonedNow()
                        + " calls that outlived their time limit still go on; mend the tool, or allow more",
                "the tool " + name() + " is not available");
    }

    /** The tool's own thread also puts what was thrown into words: an exception's message is the tool's code as well. */
    private static Answer answered(Callable<Answer> work) {
        try {
            return work.call();
        } catch (JsonProcessingException e) {
            return Answer.error(
                    ToolError.Kind.EXCEPTION, "Cannot write what the tool returned as JSON: " + e.getOriginalMessage());
        } catch (Throwable e) {
            return Answer.thrown(e);
        }
    }
}
