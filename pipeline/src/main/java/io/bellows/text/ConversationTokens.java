package io.bellows.text;

import com.fasterxml.jackson.databind.JsonNode;
import io.bellows.text.jinja.RenderedText;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * The token ids of a growing conversation, in which what the model sampled stays as it was sampled. Of each new prompt only the messages
 * since the model's last turn are rendered and encoded, with what the template writes between them and that turn.
 *
 * <p>The prompt extends the ids before it when the template still writes all earlier messages as it wrote them, blanks and an empty think
 * block apart. If it does not (a template that drops earlier thoughts, an environment that rewrote the conversation), the ids have to
 * start over: the whole conversation is encoded, and trained on as a sequence of its own.
 *
 * <p>Not safe for several threads at once.
 */
public final class ConversationTokens {

    /** Blanks have no meaning to the comparison of texts, and a template for a model that need not think opens an empty think block. */
    private static final Pattern EMPTY_THINK = Pattern.compile("<think>\\s*</think>\\s*$");

    private static final Pattern BLANKS = Pattern.compile("\\s+");

    private final ChatTokenizer text;
    private final PromptEncoder firstPrompt;
    private JsonNode tools;
    private List<Message> before = List.of();
    private String promptText;
    private int lastId = -1;

    /**
     * What comes before the model's next turn.
     *
     * @param ids the ids to append to those so far, or all ids of the prompt
     * @param extension whether they are to be appended
     * @param messages the messages that are new in it
     */
    @SuppressWarnings("ArrayRecordComponent") // carried, never compared
    public record Context(int[] ids, boolean extension, List<Message> messages) {}

    /** Encodes a whole prompt; samples of one prompt may share the work. */
    @FunctionalInterface
    public interface PromptEncoder {
        /** As {@link ChatTokenizer#encode(List, JsonNode, GenerationPrompt)}. */
        ChatPrompt encode(List<Message> messages, JsonNode tools, GenerationPrompt addGenerationPrompt);
    }

    /**
     * A conversation that has not begun.
     *
     * @param text template and tokenizer
     * @param firstPrompt encodes the prompt that begins it
     */
    public ConversationTokens(ChatTokenizer text, PromptEncoder firstPrompt) {
        this.text = text;
        this.firstPrompt = firstPrompt;
    }

    /**
     * Encodes what the model is to answer.
     *
     * @param messages the whole conversation
     * @param functions a JSON array of function schemas, or null
     * @throws io.bellows.text.jinja.TemplateException when the template refuses the conversation
     */
    public Context next(List<Message> messages, JsonNode functions) {
        boolean first = promptText == null;
        Context context = first || !java.util.Objects.equals(tools, functions) ? null : extension(messages);
        if (context == null) {
            ChatPrompt prompt = first
                    ? firstPrompt.encode(messages, functions, GenerationPrompt.ADD)
                    : text.encode(messages, functions, GenerationPrompt.ADD);
            promptText = prompt.text();
            context = new Context(prompt.ids(), false, List.copyOf(messages));
        }
        tools = functions;
        before = List.copyOf(messages);
        return context;
    }

    /**
     * Takes the model's turn into the conversation.
     *
     * @param ids what it sampled, at least one id
     * @param message the same as a message
     */
    public void sampled(int[] ids, Message message) {
        lastId = ids[ids.length - 1];
        List<Message> all = new ArrayList<>(before);
        all.add(message);
        before = List.copyOf(all);
    }

    /** How many tokens a text has that is content. */
    public int count(String content) {
        return text.tokenizer().encodeContent(content).length;
    }

    /** The ids since the model's turn, or null when the prompt does not extend what there is. */
    private Context extension(List<Message> messages) {
        int known = before.size();
        if (messages.size() <= known || !messages.subList(0, known).equals(before)) {
            return null;
        }
        RenderedText whole = text.render(messages, tools, GenerationPrompt.ADD);
        String head = upToContent(messages, known, whole.value());
        if (head == null) {
            return null;
        }
        int end = endOfTurn(head);
        if (end < 0 || !isUnchanged(head, before.get(known - 1))) {
            return null;
        }
        promptText = whole.value();
        return new Context(text.encodeFrom(whole, end), true, List.copyOf(messages.subList(known, messages.size())));
    }

    /** The rendered text before the content of a message: what is common to two conversations that differ there. */
    private String upToContent(List<Message> messages, int index, String whole) {
        String mark = UUID.randomUUID().toString();
        List<Message> marked = new ArrayList<>(messages);
        Message message = messages.get(index);
        marked.set(index, new Message(message.role(), mark, message.toolCalls(), message.toolCallId(), message.name()));
        String other = text.render(marked, tools, GenerationPrompt.ADD).value();
        int at = other.indexOf(mark);
        return at >= 0 && whole.startsWith(other.substring(0, at)) ? other.substring(0, at) : null;
    }

    /**
     * Where the text goes on after the sampled turn: behind the token that ended it, or, where a text or a limit ended it, before the
     * token that the template ends turns with.
     */
    private int endOfTurn(String head) {
        String sampledEnd = text.tokenizer().isStop(lastId)
                ? text.tokenizer().decode(new int[] {lastId}, SpecialTokens.KEEP)
                : null;
        if (sampledEnd != null && !sampledEnd.isEmpty()) {
            int at = lastTurnEnd(head, sampledEnd);
            if (at >= 0) {
                return at + sampledEnd.length();
            }
        }
        String templateEnd = text.endOfTurn();
        int at = templateEnd.isEmpty() ? -1 : lastTurnEnd(head, templateEnd);
        // Another end token than the template's stands for it.
        return at < 0 || sampledEnd == null ? at : at + templateEnd.length();
    }

    /** The last place of an end token, if it lies in the last turn: behind the prompt of that turn. */
    private int lastTurnEnd(String head, String end) {
        int at = head.lastIndexOf(end);
        return at >= withoutEmptyThink(promptText).length() ? at : -1;
    }

    private boolean isUnchanged(String head, Message turn) {
        String prompt = withoutEmptyThink(promptText);
        String content = turn.content() == null ? "" : turn.content();
        return head.startsWith(prompt)
                && withoutBlanks(head.substring(prompt.length())).contains(withoutBlanks(content));
    }

    private static String withoutEmptyThink(String prompt) {
        return EMPTY_THINK.matcher(prompt).replaceFirst("");
    }

    private static String withoutBlanks(String value) {
        return BLANKS.matcher(value).replaceAll("");
    }
}
