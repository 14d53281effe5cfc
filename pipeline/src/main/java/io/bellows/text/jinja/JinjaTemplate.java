package io.bellows.text.jinja;

import java.time.Clock;
import java.time.ZoneId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A chat template, read once and rendered as often as needed, by any number of threads.
 *
 * <pre>{@code
 * JinjaTemplate template = JinjaTemplate.parse("{{ bos_token }}{{ messages[0].content | trim }}");
 * RenderedText text = template.render(Map.of("messages", messages), Map.of("bos_token", "<s>"));
 * }</pre>
 */
public final class JinjaTemplate {

    private static final int MAX_SOURCE = 1 << 20;

    private final List<Statement> statements;
    private final Clock clock;

    private JinjaTemplate(List<Statement> statements, Clock clock) {
        this.statements = statements;
        this.clock = clock;
    }

    /**
     * Reads a template; {@code strftime_now} in it gives the system's local time.
     *
     * @throws TemplateException when it is malformed or uses a tag that is not supported
     */
    public static JinjaTemplate parse(String source) {
        return parse(source, Clock.system(ZoneId.systemDefault()));
    }

    /**
     * Reads a template.
     *
     * @param clock what {@code strftime_now} reads
     * @throws TemplateException when it is malformed or uses a tag that is not supported
     */
    public static JinjaTemplate parse(String source, Clock clock) {
        if (source.length() > MAX_SOURCE) {
            throw new TemplateException("Cannot read a template of more than " + MAX_SOURCE + " characters", 1);
        }
        return new JinjaTemplate(TemplateParser.parse(source), clock);
    }

    /**
     * Renders the template. Variables are JSON nodes, text, numbers, truth values, lists and maps of these, or null.
     *
     * @param content variables whose text may come from anywhere: messages, tools, documents
     * @param trusted variables whose text counts as the template's own: names of special tokens, settings
     * @throws TemplateException when the template refuses the conversation, fails on it, uses something outside the
     *     subset or exceeds the bounds of time, depth and size
     */
    public RenderedText render(Map<String, ?> content, Map<String, ?> trusted) {
        return render(content, trusted, clock);
    }

    /**
     * Renders the template at a time of one's choice.
     *
     * @param content variables whose text may come from anywhere
     * @param trusted variables whose text counts as the template's own
     * @param time what {@code strftime_now} reads
     * @throws TemplateException as {@link #render(Map, Map)}
     */
    public RenderedText render(Map<String, ?> content, Map<String, ?> trusted, Clock time) {
        Map<String, Object> globals = new HashMap<>(Globals.functions(time));
        trusted.forEach((name, value) -> globals.put(name, Values.of(value)));
        content.forEach((name, value) -> globals.put(name, Values.ofContent(value)));
        return render(globals);
    }

    /** Renders with values of the interpreter on top of the functions. */
    RenderedText render(Map<String, Object> globals) {
        TextBuilder out = new TextBuilder();
        Frame.outermost(globals).inner().execute(statements, out);
        return new RenderedText(out.build());
    }
}
