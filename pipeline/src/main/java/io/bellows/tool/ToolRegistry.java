package io.bellows.tool;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.bellows.config.InvalidConfigException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;

/**
 * The tools of a run, native ones and functions, under one set of names. Safe for use by several threads; one instance per
 * executor, as it counts the calls that were given up on.
 *
 * <pre>{@code
 * ToolRegistry tools = ToolRegistry.builder()
 *         .nativeTools("tools.yaml", yaml)
 *         .functionTools("com.example.WeatherTools")
 *         .allowPackages(List.of("com.example"))
 *         .build();
 * try (ToolSession session = tools.open(null, null, tokenizer::count, Duration.ofMinutes(5))) {
 *     ToolResult result = session.call(call, Duration.ofSeconds(10));
 * }
 * }</pre>
 */
public final class ToolRegistry {

    private final Map<String, Tool> tools;
    private final ToolLimits limits;
    private final AbandonableCalls calls;
    private final AtomicLong releaseFailures = new AtomicLong();

    private ToolRegistry(Map<String, Tool> tools, ToolLimits limits) {
        this.tools = tools;
        this.limits = limits;
        this.calls = new AbandonableCalls(limits.maxAbandoned());
    }

    /** Collects what a registry holds. */
    public static Builder builder() {
        return new Builder();
    }

    /** All names: native tools in the order of their file, then functions in that of their classes. */
    public List<String> names() {
        return List.copyOf(tools.keySet());
    }

    /**
     * The OpenAI function schemas that a row's prompt shows, in the order of the registry.
     *
     * @param selection the names of the row's {@code tool_selection}; null for all
     * @throws IllegalArgumentException when a name is unknown
     */
    public List<ObjectNode> schemas(List<String> selection) {
        return selected(selection).stream()
                .map(tool -> tool.schema().deepCopy())
                .toList();
    }

    /**
     * The tools of one trajectory, set up and not shared. A tool that cannot be set up answers every call with an error.
     *
     * @param toolsKwargs the row's {@code tools_kwargs}: name → {@code create_kwargs}, {@code execute_kwargs}, {@code
     *     calc_reward_kwargs}, {@code release_kwargs}; null for none. Tools that it names and that are not selected are passed over
     * @param selection the row's {@code tool_selection}; null for all
     * @param countTokens how many tokens a text has, for shortening answers; called by several threads
     * @param remaining what is left to the trajectory; each tool also has the limit of {@link ToolLimits#timeout}
     * @throws IllegalArgumentException when the selection has an unknown name, or the arguments are no objects
     */
    public ToolSession open(
            ObjectNode toolsKwargs, List<String> selection, ToIntFunction<String> countTokens, Duration remaining) {
        long deadline = System.nanoTime() + remaining.toNanos();
        Map<Class<?>, Object> shared = new ConcurrentHashMap<>();
        List<OpenTool> opened = selected(selection).stream()
                .map(tool -> new OpenTool(tool, ToolKwargs.of(toolsKwargs, tool.name()), limits, calls, shared))
                .toList();
        ToolSession session = new ToolSession(opened, limits, new AnswerText(limits, countTokens), releaseFailures);
        opened.forEach(tool -> tool.create(Duration.ofNanos(deadline - System.nanoTime())));
        return session;
    }

    /** Releases that threw or took too long. */
    public long releaseFailures() {
        return releaseFailures.get();
    }

    /** Calls that outlived their limit and still go on in the background. */
    public int abandonedCalls() {
        return calls.abandonedNow();
    }

    /** Calls that outlived their limit and its interruption, since the start. */
    public long abandonedCallsTotal() {
        return calls.abandonedTotal();
    }

    private List<Tool> selected(List<String> selection) {
        if (selection == null) {
            return List.copyOf(tools.values());
        }
        for (String name : selection) {
            if (!tools.containsKey(name)) {
                throw new IllegalArgumentException(
                        "Invalid tool_selection '" + name + "': expected names among " + tools.keySet());
            }
        }
        Set<String> wanted = Set.copyOf(selection);
        return tools.values().stream()
                .filter(tool -> wanted.contains(tool.name()))
                .toList();
    }

    /** Collects tools and limits; {@link #build} reports all that is wrong at once. */
    public static final class Builder {

        private static final ObjectMapper YAML = new YAMLMapper(YAMLFactory.builder()
                .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                .build());

        private static final Set<String> KEYS = Set.of("class_name", "config", "tool_schema");

        private final List<String> packages = new ArrayList<>(List.of("io.bellows.tool"));
        private final Map<String, String> files = new LinkedHashMap<>();
        private final List<String> functionClasses = new ArrayList<>();
        private final List<String> errors = new ArrayList<>();
        private final Map<String, Tool> tools = new LinkedHashMap<>();
        private ToolLimits limits = ToolLimits.defaults();

        private Builder() {}

        /** Packages, with all below them, that classes may come from besides {@code io.bellows.tool}. */
        public Builder allowPackages(List<String> names) {
            packages.addAll(names);
            return this;
        }

        /**
         * The tools of a tool configuration.
         *
         * @param source the file's name, for messages
         * @param yaml {@code tools:}, a list of {@code class_name}, {@code config}, {@code tool_schema}
         */
        public Builder nativeTools(String source, String yaml) {
            if (files.putIfAbsent(source, yaml) != null) {
                throw new IllegalArgumentException("Invalid tool configuration " + source + ": it is given twice");
            }
            return this;
        }

        /** The {@link FunctionTool} methods of a class. */
        public Builder functionTools(String className) {
            functionClasses.add(className);
            return this;
        }

        /** What bounds the calls, instead of {@link ToolLimits#defaults}. */
        public Builder limits(ToolLimits value) {
            this.limits = value;
            return this;
        }

        /**
         * Loads everything.
         *
         * @throws InvalidConfigException with every error, each naming its place
         */
        public ToolRegistry build() {
            errors.clear();
            tools.clear();
            ToolClasses classes = new ToolClasses(packages);
            files.forEach((source, yaml) -> nativeTools(source, yaml, classes));
            for (String name : functionClasses) {
                add("function tools " + name, () -> FunctionToolMethod.toolsOf(classes.named(name)));
            }
            if (!errors.isEmpty()) {
                throw new InvalidConfigException(errors);
            }
            return new ToolRegistry(new LinkedHashMap<>(tools), limits);
        }

        private void nativeTools(String source, String yaml, ToolClasses classes) {
            JsonNode list;
            try {
                list = YAML.readTree(yaml).path("tools");
            } catch (JsonProcessingException e) {
                errors.add("Invalid YAML in " + source + ": " + e.getOriginalMessage());
                return;
            }
            if (!list.isArray()) {
                errors.add("Invalid tool configuration " + source
                        + ": expected tools: with a list of class_name, config and tool_schema");
                return;
            }
            for (int i = 0; i < list.size(); i++) {
                JsonNode entry = list.get(i);
                String place = source + " tools[" + i + "]";
                add(place, () -> List.of(nativeTool(place, entry, classes)));
            }
        }

        private static Tool nativeTool(String place, JsonNode entry, ToolClasses classes) {
            entry.fieldNames().forEachRemaining(key -> {
                if (!KEYS.contains(key)) {
                    throw new IllegalArgumentException("Unsupported key '" + key + "': expected " + KEYS);
                }
            });
            NativeToolClass type =
                    new NativeToolClass(classes.named(entry.path("class_name").textValue()), entry.get("config"));
            return Tool.of(type.schema(entry.get("tool_schema")), place, shared -> type.newInstance());
        }

        private void add(String place, Supplier<List<Tool>> loading) {
            try {
                for (Tool tool : loading.get()) {
                    Tool other = tools.putIfAbsent(tool.name(), tool);
                    if (other != null) {
                        errors.add("Invalid tool name '" + tool.name() + "': " + other.source() + " and "
                                + tool.source() + " both have it; rename one");
                    }
                }
            } catch (IllegalArgumentException e) {
                errors.add(place + ": " + e.getMessage());
            }
        }
    }
}
