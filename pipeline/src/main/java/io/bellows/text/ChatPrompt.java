package io.bellows.text;

/**
 * A rendered conversation.
 *
 * @param text the rendered text, for people; encoding it again may give other ids where content spells a special token
 * @param ids the token ids the model sees
 */
@SuppressWarnings("ArrayRecordComponent") // carried, never compared
public record ChatPrompt(String text, int[] ids) {}
