package io.bellows.tool;

import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * A tool with a state. Each trajectory has an instance of its own, used by one thread at a time: {@link #create}, any number of
 * {@link #execute}, {@link #calcReward}, {@link #release}.
 *
 * <p>The class is public and has one public constructor, either without arguments or with one argument, a record that Jackson
 * binds to the {@code config} block of the tool configuration (names in snake_case; unknown names are errors). The constructor
 * checks the configuration and opens nothing; it also runs once when the configuration is loaded.
 *
 * <p>All methods run on a daemon thread with a time limit; past it the thread is interrupted. They may throw anything: the model
 * gets the message as the answer. A {@link ToolUnavailableException} says that the fault is with what the tool stands on, not
 * with the call.
 *
 * <p>The last argument of each method is the row's {@code tools_kwargs.NAME.*_kwargs}, an empty object when there is none.
 */
public interface NativeTool {

    /**
     * The tool's OpenAI function schema as JSON, for tool configurations without {@code tool_schema}; null when the configuration
     * has to have one.
     */
    default String toolSchema() {
        return null;
    }

    /** Begins a trajectory. */
    default void create(ObjectNode createKwargs) throws Exception {}

    /**
     * Answers a call.
     *
     * @param arguments what the model gave, valid by the schema
     * @return a {@link ToolResponse}; or a text, or bytes of one; or a map, list or record, which become JSON; or anything else, by
     *     its {@code toString}
     */
    Object execute(ObjectNode arguments, ObjectNode executeKwargs) throws Exception;

    /** The reward for the state that the trajectory leaves the tool in, finite; null for none. */
    default Double calcReward(ObjectNode calcRewardKwargs) throws Exception {
        return null;
    }

    /** Ends the trajectory, on every path, also when {@link #create} failed. */
    default void release(ObjectNode releaseKwargs) throws Exception {}
}
