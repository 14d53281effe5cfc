package io.bellows.text.jinja;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/** The filters of Jinja that work on any value or on sequences; those on text are {@link TextFilters}. */
final class Filters {

    private Filters() {}

    static Object apply(String name, Object value, Arguments arguments) {
        return switch (name) {
            case "default", "d" -> defaultOf(value, arguments.allow("default_value", "boolean"));
            case "tojson" -> Json.dumps(value, arguments);
            case "list" -> {
                arguments.allow();
                yield new ArrayList<>(Sequences.items(value));
            }
            case "length", "count" -> {
                arguments.allow();
                yield Sequences.length(value);
            }
            case "first" -> {
                arguments.allow();
                yield first(value);
            }
            case "last" -> {
                arguments.allow();
                yield last(value);
            }
            case "items" -> {
                arguments.allow();
                yield new Generator(items(value));
            }
            case "join" -> join(value, arguments.allow("d", "attribute"));
            case "reverse" -> {
                arguments.allow();
                yield reverse(value);
            }
            case "map" -> map(value, arguments);
            case "select" -> select(value, arguments, true);
            case "reject" -> select(value, arguments, false);
            case "selectattr" -> selectAttribute(value, arguments, true);
            case "rejectattr" -> selectAttribute(value, arguments, false);
            case "sort" -> sort(value, arguments.allow("reverse", "case_sensitive", "attribute"));
            case "dictsort" -> dictSort(value, arguments.allow("case_sensitive", "by", "reverse"));
            case "unique" -> unique(value, arguments.allow("case_sensitive", "attribute"));
            case "sum" -> sum(value, arguments.allow("attribute", "start"));
            case "min" -> extreme(value, arguments.allow("case_sensitive", "attribute"), -1);
            case "max" -> extreme(value, arguments.allow("case_sensitive", "attribute"), 1);
            default -> TextFilters.apply(name, value, arguments);
        };
    }

    /** The entries of a dict as tuples of key and value. */
    static List<Object> pairs(Map<?, ?> map) {
        List<Object> pairs = new ArrayList<>(map.size());
        map.forEach((key, item) -> pairs.add(new Tuple(List.of(key, item))));
        return pairs;
    }

    private static Object defaultOf(Object value, Arguments arguments) {
        boolean replace = value instanceof Undefined || (arguments.truth(1, "boolean", false) && !Truth.of(value));
        return replace ? arguments.get(0, "default_value", Text.EMPTY) : value;
    }

    private static Object first(Object value) {
        if (value instanceof Generator generator) {
            return generator.next();
        }
        List<Object> items = Sequences.items(value);
        return items.isEmpty() ? new Undefined("No first item, sequence was empty.") : items.get(0);
    }

    private static Object last(Object value) {
        if (value instanceof Generator) {
            throw new OperationException("Cannot take the last item of a generator; turn it into a list first");
        }
        List<Object> items = Sequences.items(value);
        return items.isEmpty() ? new Undefined("No last item, sequence was empty.") : items.get(items.size() - 1);
    }

    private static List<Object> items(Object value) {
        if (value instanceof Undefined) {
            return List.of();
        }
        if (value instanceof Map<?, ?> map) {
            return pairs(map);
        }
        throw new OperationException("Cannot take the items of a " + Types.name(value) + ": a dict is needed");
    }

    private static Text join(Object value, Arguments arguments) {
        Text separator = Printing.text(arguments.get(0, "d", Text.EMPTY));
        Object attribute = arguments.get(1, "attribute", None.NONE);
        TextBuilder out = new TextBuilder();
        boolean first = true;
        for (Object item : Sequences.items(value)) {
            if (!first) {
                out.append(separator);
            }
            out.append(Printing.text(attribute == None.NONE ? item : path(item, attribute)));
            first = false;
        }
        return out.build();
    }

    private static Object reverse(Object value) {
        if (value instanceof Text text) {
            return Slicing.slice(text, null, null, -1L);
        }
        List<Object> reversed = new ArrayList<>(Sequences.items(value));
        Collections.reverse(reversed);
        return new Generator(reversed);
    }

    private static Object map(Object value, Arguments arguments) {
        List<Object> mapped = new ArrayList<>();
        if (arguments.positional().isEmpty() && arguments.named().containsKey("attribute")) {
            Object attribute = arguments.require(0, "attribute");
            Object fallback = arguments.named().get("default");
            if (arguments.named().size() > (fallback == null ? 1 : 2)) {
                throw new OperationException("Unsupported arguments of filter 'map' beside attribute and default");
            }
            for (Object item : Sequences.items(value)) {
                Object found = path(item, attribute);
                mapped.add(found instanceof Undefined && fallback != null ? fallback : found);
            }
            return new Generator(mapped);
        }
        String filter = arguments.text(0, "filter").value();
        Arguments rest = arguments.after(1, "filter '" + filter + "'");
        for (Object item : Sequences.items(value)) {
            mapped.add(apply(filter, item, rest));
        }
        return new Generator(mapped);
    }

    private static Object select(Object value, Arguments arguments, boolean wanted) {
        Predicate<Object> test = test(arguments, 0);
        return filtered(value, item -> test.test(item) == wanted);
    }

    private static Object selectAttribute(Object value, Arguments arguments, boolean wanted) {
        Object attribute = arguments.require(0, "attribute");
        Predicate<Object> test = test(arguments, 1);
        return filtered(value, item -> test.test(path(item, attribute)) == wanted);
    }

    private static Predicate<Object> test(Arguments arguments, int at) {
        if (arguments.positional().size() <= at) {
            return Truth::of;
        }
        String name = arguments.text(at, "test").value();
        Arguments rest = arguments.after(at + 1, "test '" + name + "'");
        return item -> Tests.holds(name, item, rest);
    }

    private static Generator filtered(Object value, Predicate<Object> condition) {
        List<Object> kept = new ArrayList<>();
        for (Object item : Sequences.items(value)) {
            if (condition.test(item)) {
                kept.add(item);
            }
        }
        return new Generator(kept);
    }

    /** {@code a.b.0} of a value. */
    private static Object path(Object value, Object attribute) {
        if (!(attribute instanceof Text text)) {
            return Attributes.item(value, attribute);
        }
        Object found = value;
        for (String part : text.value().split("\\.", -1)) {
            boolean index =
                    !part.isEmpty() && part.length() < 10 && part.chars().allMatch(c -> c >= '0' && c <= '9');
            found = Attributes.item(found, index ? (Object) Long.valueOf(part) : Text.of(part));
        }
        return found;
    }

    private static Object sort(Object value, Arguments arguments) {
        List<Object> sorted = new ArrayList<>(Sequences.items(value));
        Comparator<Object> order =
                order(arguments.truth(1, "case_sensitive", false), arguments.get(2, "attribute", None.NONE));
        sorted.sort(arguments.truth(0, "reverse", false) ? order.reversed() : order);
        return sorted;
    }

    private static Object dictSort(Object value, Arguments arguments) {
        String by = arguments.text(1, "by", Text.of("key")).value();
        if (!by.equals("key") && !by.equals("value")) {
            throw new OperationException(
                    "Invalid argument 'by' of filter 'dictsort': 'key' or 'value', not '" + by + "'");
        }
        List<Object> sorted = items(value);
        Comparator<Object> order = order(arguments.truth(0, "case_sensitive", false), by.equals("key") ? 0L : 1L);
        sorted.sort(arguments.truth(2, "reverse", false) ? order.reversed() : order);
        return sorted;
    }

    private static Comparator<Object> order(boolean caseSensitive, Object attribute) {
        if (attribute instanceof Text text && text.value().indexOf(',') >= 0) {
            throw new OperationException("Unsupported sorting by several attributes");
        }
        return (a, b) -> Comparing.order(key(a, caseSensitive, attribute), key(b, caseSensitive, attribute));
    }

    private static Object key(Object item, boolean caseSensitive, Object attribute) {
        Object key = attribute == None.NONE ? item : path(item, attribute);
        boolean fold = !caseSensitive && key instanceof Text;
        return fold ? Text.of(((Text) key).value().toLowerCase(Locale.ROOT)) : key;
    }

    private static Object unique(Object value, Arguments arguments) {
        boolean caseSensitive = arguments.truth(0, "case_sensitive", false);
        Object attribute = arguments.get(1, "attribute", None.NONE);
        Set<Object> seen = new HashSet<>();
        return filtered(value, item -> seen.add(key(item, caseSensitive, attribute)));
    }

    private static Object sum(Object value, Arguments arguments) {
        Object attribute = arguments.get(0, "attribute", None.NONE);
        Object total = arguments.get(1, "start", 0L);
        for (Object item : Sequences.items(value)) {
            total = Operators.apply("+", total, attribute == None.NONE ? item : path(item, attribute));
        }
        return total;
    }

    private static Object extreme(Object value, Arguments arguments, int sign) {
        Comparator<Object> order =
                order(arguments.truth(0, "case_sensitive", false), arguments.get(1, "attribute", None.NONE));
        Object best = null;
        for (Object item : Sequences.items(value)) {
            if (best == null || sign * order.compare(item, best) > 0) {
                best = item;
            }
        }
        return best == null ? new Undefined("No aggregated item, sequence was empty.") : best;
    }
}
