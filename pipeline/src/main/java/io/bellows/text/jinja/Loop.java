package io.bellows.text.jinja;

import java.util.List;

/** The variable {@code loop} inside a {@code for}. */
final class Loop {

    private final List<Object> items;
    private int index;
    private Object lastChanged; // null: changed() was not called yet

    Loop(List<Object> items) {
        this.items = items;
    }

    void moveTo(int newIndex) {
        index = newIndex;
    }

    /** An attribute or null. */
    Object attribute(String name) {
        return switch (name) {
            case "index" -> index + 1L;
            case "index0" -> (long) index;
            case "revindex" -> (long) items.size() - index;
            case "revindex0" -> items.size() - index - 1L;
            case "first" -> index == 0;
            case "last" -> index == items.size() - 1;
            case "length" -> (long) items.size();
            case "depth" -> 1L; // counts recursion, which is outside the subset
            case "depth0" -> 0L;
            case "previtem" -> index == 0 ? new Undefined("there is no previous item") : items.get(index - 1);
            case "nextitem" ->
                index == items.size() - 1 ? new Undefined("there is no next item") : items.get(index + 1);
            case "cycle" -> (Callable) this::cycle;
            case "changed" -> (Callable) this::changed;
            default -> null;
        };
    }

    private Object cycle(Arguments arguments) {
        if (arguments.positional().isEmpty()) {
            throw new OperationException("Invalid call of method 'cycle': it has no items");
        }
        return arguments.positional().get(index % arguments.positional().size());
    }

    private Object changed(Arguments arguments) {
        Tuple values = new Tuple(arguments.positional());
        boolean changed = lastChanged == null || !Comparing.equal(lastChanged, values);
        lastChanged = values;
        return changed;
    }
}
