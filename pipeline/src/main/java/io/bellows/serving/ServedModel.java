package io.bellows.serving;

import io.bellows.engine.InferenceEngine;
import io.bellows.text.ChatTokenizer;
import io.bellows.text.toolcall.ToolCallFormat;

/**
 * A model that a server answers with.
 *
 * @param name how requests name it
 * @param text its tokenizer and chat template
 * @param engine generates; its slots hold {@code positions} tokens each
 * @param positions most tokens of prompt and answer together
 * @param toolCalls how the model writes calls of tools
 */
public record ServedModel(
        String name, ChatTokenizer text, InferenceEngine engine, int positions, ToolCallFormat toolCalls) {}
