package io.bellows.env;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.bellows.text.ChatTokenizer;
import io.bellows.text.ConversationTokens;
import io.bellows.text.Golden;
import io.bellows.text.Message;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;

/** What tests of environments share: a tokenizer with a chat template, workers, a row. */
abstract class EnvironmentTest {

    static final RolloutLimits ROOMY = new RolloutLimits(400, 1000, 2000, null, Duration.ofSeconds(5));

    static ChatTokenizer chat;
    final Workers workers = new Workers(8, Duration.ofMillis(200));

    @BeforeAll
    static void open() throws IOException {
        chat = ChatTokenizer.load(Golden.tokenizerFolder(), Map.of());
    }

    @AfterAll
    static void close() {
        chat.close();
    }

    @AfterEach
    void stopWorkers() {
        workers.close();
    }

    static Example example(ObjectNode columns) {
        return new Example("file:0", "test", List.of(Message.of("user", "hello")), "4", null, columns);
    }

    static State state(RolloutLimits limits) {
        return state(limits, 0, example(JsonNodeFactory.instance.objectNode()));
    }

    static State state(RolloutLimits limits, int sample, Example example) {
        return new State(
                new ModelRequest.TrajectoryId(0, sample), example, limits, new ConversationTokens(chat, chat::encode));
    }

    static RolloutLimits within(Duration timeout) {
        return new RolloutLimits(400, 1000, 2000, timeout, Duration.ofMillis(500));
    }

    static ScriptedModel saying(String... texts) {
        return ScriptedModel.saying(chat.tokenizer(), texts);
    }

    State rollOut(MultiTurnEnv environment, ModelClient model) throws Exception {
        return rollOut(environment, state(ROOMY), model);
    }

    State rollOut(MultiTurnEnv environment, State state, ModelClient model) throws Exception {
        return environment.rollout(state, model, workers).get(30, TimeUnit.SECONDS);
    }

    static List<Message> user(String content) {
        return List.of(Message.of("user", content));
    }

    /** Files that this process has open; 0 where the system does not say. */
    static long openFiles() throws IOException {
        Path open = Path.of("/proc/self/fd");
        if (!Files.isDirectory(open)) {
            return 0;
        }
        try (Stream<Path> files = Files.list(open)) {
            return files.count();
        }
    }
}
