package io.bellows.reward;

import com.google.re2j.Pattern;
import java.util.List;
import java.util.Optional;

/**
 * Fields that a model writes between tags, {@code <reasoning>…</reasoning><answer>…</answer>}. Of a field that occurs twice the first counts. The text
 * is searched, not read as XML: it is what a model wrote.
 */
public final class XmlParser implements Parser {

    private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_-]*");

    private final List<String> fields;
    private final String answerField;

    /**
     * A parser of some fields, in the order in which a well-formed text has them.
     *
     * @param answerField the one of them that holds the answer
     * @throws IllegalArgumentException if a name cannot be a tag, occurs twice, or is not among the fields
     */
    public XmlParser(List<String> fields, String answerField) {
        this.fields = List.copyOf(fields);
        this.answerField = answerField;
        for (String field : fields) {
            if (!NAME.matches(field)) {
                throw new IllegalArgumentException(
                        "Invalid field '" + field + "': a tag is letters, digits, '_' and '-', not a digit first");
            }
        }
        if (fields.stream().distinct().count() != fields.size() || !fields.contains(answerField)) {
            throw new IllegalArgumentException("Invalid fields " + fields + " with the answer in '" + answerField
                    + "': name each once, and one of them for the answer");
        }
    }

    /** What the field of the answer holds. */
    @Override
    public Optional<String> parse(String text) {
        return field(text, answerField);
    }

    /**
     * What a field holds, trimmed; empty where it is not there or not closed.
     *
     * @throws IllegalArgumentException if the field is none of this parser's
     */
    public Optional<String> field(String text, String name) {
        if (!fields.contains(name)) {
            throw new IllegalArgumentException("Unsupported field '" + name + "': expected one of " + fields);
        }
        int open = text.indexOf("<" + name + ">");
        int from = open + name.length() + 2;
        int close = open < 0 ? -1 : text.indexOf("</" + name + ">", from);
        return close < 0
                ? Optional.empty()
                : Optional.of(text.substring(from, close).strip());
    }

    /** How far a text has the form: half of it for the share of the fields that are there, half for being nothing but each field once, in order. */
    public double format(String text) {
        long present =
                fields.stream().filter(name -> field(text, name).isPresent()).count();
        return 0.5 * present / fields.size() + (isWellFormed(text) ? 0.5 : 0);
    }

    private boolean isWellFormed(String text) {
        String rest = text.strip();
        for (String name : fields) {
            String open = "<" + name + ">";
            String close = "</" + name + ">";
            int end = rest.indexOf(close);
            if (!rest.startsWith(open) || end < 0 || rest.indexOf(open, 1) >= 0) {
                return false;
            }
            rest = rest.substring(end + close.length()).strip();
        }
        return rest.isEmpty();
    }
}
