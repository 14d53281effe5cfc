package io.bellows.text;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * The special tokens of a tokenizer under names that no text can spell.
 *
 * <p>The tokenizers library finds special tokens in any text it is given, so a dataset that holds {@code <|im_start|>}
 * could open a turn of its own. {@link #disguise} renames every special token to an unguessable placeholder, keeping ids
 * and flags: text encoded with the renamed tokenizer is ordinary text throughout, and {@link #mark} writes placeholders
 * at the places where a special token is meant. One call then encodes all of it, with the splitting, stripping and
 * normalising the original tokenizer would have done.
 */
final class ControlTokens {

    /** A special token; {@code singleWord} ones match only between non-word characters. */
    private record Token(String content, String placeholder, boolean singleWord) {}

    /** Says which part of a text may hold special tokens. */
    interface Trust {
        /** Whether no character in {@code [start, end)} comes from content. */
        boolean covers(int start, int end);
    }

    private final Map<String, Token> byContent = new LinkedHashMap<>();
    private final List<Integer> lengths; // longest first, as the library prefers the longest match
    private final BitSet firstCharacters = new BitSet();

    private ControlTokens(Map<String, Boolean> singleWordByContent) {
        String secret = UUID.randomUUID().toString();
        singleWordByContent.forEach((content, singleWord) ->
                byContent.put(content, new Token(content, "<" + secret + "-" + byContent.size() + ">", singleWord)));
        byContent.keySet().forEach(content -> firstCharacters.set(content.charAt(0)));
        this.lengths = byContent.keySet().stream()
                .map(String::length)
                .distinct()
                .sorted((a, b) -> b - a)
                .toList();
    }

    /** The tokens of tokenizer.json that are flagged special or named in {@code alsoSpecial}. */
    static ControlTokens of(JsonNode tokenizerJson, Set<String> alsoSpecial) {
        Map<String, Boolean> tokens = new LinkedHashMap<>();
        for (JsonNode added : tokenizerJson.path("added_tokens")) {
            String content = added.path("content").asText();
            boolean special = added.path("special").asBoolean() || alsoSpecial.contains(content);
            if (special && !content.isEmpty()) {
                tokens.put(content, added.path("single_word").asBoolean());
            }
        }
        return new ControlTokens(tokens);
    }

    /** A copy of tokenizer.json in which special tokens bear their placeholders. */
    JsonNode disguise(JsonNode tokenizerJson) {
        ObjectNode root = tokenizerJson.deepCopy();
        for (JsonNode added : root.path("added_tokens")) {
            Token token = byContent.get(added.path("content").asText());
            if (token != null) {
                ((ObjectNode) added).put("content", token.placeholder());
            }
        }
        if (root.path("model") instanceof ObjectNode model) {
            disguiseModel(model);
        }
        return root;
    }

    /**
     * The text with a placeholder for each special token that lies wholly in trusted text. What content spells stays as
     * it is, also where it is only part of a special token.
     */
    String mark(String text, Trust trust) {
        StringBuilder marked = new StringBuilder(text.length() + 64);
        int copied = 0;
        int at = 0;
        while (at < text.length()) {
            Token token = tokenAt(text, at);
            if (token != null && trust.covers(at, at + token.content().length())) {
                marked.append(text, copied, at).append(token.placeholder());
                at += token.content().length();
                copied = at;
            } else {
                at++;
            }
        }
        return marked.append(text, copied, text.length()).toString();
    }

    private Token tokenAt(String text, int at) {
        if (!firstCharacters.get(text.charAt(at))) {
            return null;
        }
        for (int length : lengths) {
            if (at + length <= text.length()) {
                Token token = byContent.get(text.substring(at, at + length));
                if (token != null && (!token.singleWord() || standsAlone(text, at, at + length))) {
                    return token;
                }
            }
        }
        return null;
    }

    private static boolean standsAlone(String text, int start, int end) {
        return (start == 0 || !isWord(text.codePointBefore(start)))
                && (end == text.length() || !isWord(text.codePointAt(end)));
    }

    private static boolean isWord(int codePoint) {
        return Character.isLetterOrDigit(codePoint) || codePoint == '_';
    }

    /** The model's own vocabulary may list a special token too, and would then find it in plain text. */
    private void disguiseModel(ObjectNode model) {
        Set<String> renamed = new HashSet<>();
        if (model.path("vocab") instanceof ObjectNode vocab) {
            ObjectNode disguised = vocab.objectNode();
            vocab.properties().forEach(entry -> {
                Token token = byContent.get(entry.getKey());
                if (token != null) {
                    renamed.add(token.content());
                }
                disguised.set(token == null ? entry.getKey() : token.placeholder(), entry.getValue());
            });
            model.set("vocab", disguised);
        } else if (model.path("vocab") instanceof ArrayNode pieces) {
            for (JsonNode piece : pieces) {
                Token token = byContent.get(piece.path(0).asText());
                if (token != null) {
                    ((ArrayNode) piece).set(0, token.placeholder());
                }
            }
        }
        Token unknown = byContent.get(model.path("unk_token").asText(""));
        if (unknown != null) {
            model.put("unk_token", unknown.placeholder());
        }
        if (!renamed.isEmpty() && model.path("merges") instanceof ArrayNode merges) {
            model.set("merges", withoutMergesOf(renamed, merges));
        }
    }

    private static ArrayNode withoutMergesOf(Set<String> renamed, ArrayNode merges) {
        List<JsonNode> kept = new ArrayList<>(merges.size());
        for (JsonNode merge : merges) {
            String pair = merge.isArray()
                    ? merge.path(0).asText() + " " + merge.path(1).asText()
                    : merge.asText();
            int space = pair.indexOf(' ', 1);
            String left = space < 0 ? pair : pair.substring(0, space);
            String right = space < 0 ? "" : pair.substring(space + 1);
            if (!renamed.contains(left + right) && !renamed.contains(left) && !renamed.contains(right)) {
                kept.add(merge);
            }
        }
        return merges.arrayNode(kept.size()).addAll(kept);
    }
}
