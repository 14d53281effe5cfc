package io.bellows.text;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * The tokenizer of a Hugging Face folder: text to ids and back, exactly as tokenizer.json says. Nothing is truncated,
 * padded or added; a chat template already writes the special tokens that belong into a prompt.
 *
 * <p>Safe for use by several threads at once, until it is closed.
 */
public final class Tokenizer implements AutoCloseable {

    // Without these the library truncates at 512 tokens and pads.
    private static final Map<String, String> PLAIN =
            Map.of("padding", "false", "truncation", "false", "addSpecialTokens", "false");

    private final HuggingFaceTokenizer original;
    private final HuggingFaceTokenizer disguised;
    private final ControlTokens controlTokens;
    private final Map<String, Integer> ids;
    private final BitSet specialIds;
    private final int vocabSize;
    private final Map<String, String> namedTokens;
    private final int[] stopIds;
    private final boolean addsBos;

    /** Texts in which tokenizers differ: scripts, digits, blanks, code, composed and decomposed characters. */
    private static final List<String> PROBES = List.of(
            "The quick brown fox jumps over the lazy dog's 12345678.90 boxes, don't you think?",
            "Le c\u0153ur d\u00e9\u00e7u, gr\u00fc\u00dfe, \u0159e\u010d, e\u0301 \ufb01n \u2026 \u00bd \u20ac5",
            "\u4e2d\u6587\u5206\u8bcd \u65e5\u672c\u8a9e\u306e\u6587 \ud55c\uad6d\uc5b4 \u0420\u0443\u0441\u0441\u043a\u0438\u0439"
                    + " \u0627\u0644\u0639\u0631\u0628\u064a\u0629 \u0939\u093f\u0928\u094d\u0926\u0940 \ud83d\ude80",
            "  for (int i = 0; i < 10; i++) {\n\t\tx[i] += 1e-3;\n\n    }\r\n",
            "\\boxed{x^2 + \\frac{1}{2}} <think>\n\n</think> <|im_start|>user {\"name\": \"a_b\"}");

    /**
     * Tells whether ids of one tokenizer mean the same to another: it has every token of the first under the same id, and both encode texts
     * that tell tokenizers apart to the same ids. Files and classes may differ.
     *
     * @param folder the folder of the one that is to read ids
     * @param other the folder of the one whose ids they are
     * @throws IOException if a file is missing or damaged
     */
    public static boolean readsIdsOf(Path folder, Path other) throws IOException {
        try (Tokenizer reader = load(folder);
                Tokenizer writer = load(other)) {
            return reader.ids.entrySet().containsAll(writer.ids.entrySet())
                    && PROBES.stream().allMatch(text -> Arrays.equals(reader.encode(text), writer.encode(text)));
        }
    }

    private Tokenizer(TokenizerFiles files) throws IOException {
        JsonNode json = files.tokenizer();
        this.ids = vocabulary(json);
        this.vocabSize = ids.values().stream().mapToInt(id -> id + 1).max().orElse(0);
        this.namedTokens = Map.copyOf(files.namedTokens());
        this.specialIds = specialIds(json, files.specialTokens());
        this.stopIds = stopIds(files);
        this.controlTokens = ControlTokens.of(json, files.specialTokens());
        Path file = files.folder().resolve("tokenizer.json");
        this.original = open(Files.readAllBytes(file), file);
        try {
            byte[] disguise = controlTokens.disguise(json).toString().getBytes(StandardCharsets.UTF_8);
            this.disguised = open(disguise, file);
            this.addsBos = addsBos(files.config().path("add_bos_token"));
        } catch (IOException | RuntimeException e) {
            original.close();
            throw e;
        }
    }

    /**
     * Opens the tokenizer of a folder.
     *
     * @param folder holds tokenizer.json and, for the names of special tokens, tokenizer_config.json
     * @throws IOException when a file is missing or damaged; the text names it
     */
    public static Tokenizer load(Path folder) throws IOException {
        return new Tokenizer(TokenizerFiles.read(folder));
    }

    /**
     * The ids of a text in which the names of special tokens mean those tokens. For text the program wrote itself; for
     * text from elsewhere use {@link #encodeContent}.
     */
    public int[] encode(String text) {
        return encode(original, text);
    }

    /**
     * The ids of a plain text that a model is to continue: as {@link #encode}, after the token that begins a sequence
     * where the tokenizer puts one ({@code add_bos_token} of tokenizer_config.json, else the post-processor of
     * tokenizer.json). A text that begins with that token does not get a second one.
     */
    public int[] encodePrompt(String text) {
        int[] textIds = encode(text);
        if (!addsBos || (textIds.length > 0 && textIds[0] == bosId().getAsInt())) {
            return textIds;
        }
        return IntStream.concat(IntStream.of(bosId().getAsInt()), IntStream.of(textIds))
                .toArray();
    }

    /** The ids of a text in which nothing is a special token, whatever it spells: {@code <|im_end|>} is ten characters. */
    public int[] encodeContent(String text) {
        return encode(disguised, text);
    }

    /** The ids of a text in which special tokens count only where they lie in trusted parts. */
    int[] encode(String text, ControlTokens.Trust trust) {
        return encode(disguised, controlTokens.mark(text, trust));
    }

    /**
     * The text of some ids. Bytes that make no character become U+FFFD; ids beyond the vocabulary, which a model with a
     * padded embedding can sample, have no text.
     *
     * @throws IllegalArgumentException when an id is negative
     */
    public String decode(int[] tokenIds, SpecialTokens specialTokens) {
        boolean skip = specialTokens == SpecialTokens.SKIP;
        long[] shown = IntStream.of(tokenIds)
                .peek(Tokenizer::check)
                .filter(id -> id < vocabSize && !(skip && specialIds.get(id)))
                .asLongStream()
                .toArray();
        return shown.length == 0 ? "" : original.decode(shown, false);
    }

    /** The id of the token that ends a sequence ({@code eos_token}). */
    public OptionalInt eosId() {
        return idOfNamed("eos_token");
    }

    /** The id that fills batches ({@code pad_token}). */
    public OptionalInt padId() {
        return idOfNamed("pad_token");
    }

    /** The id of the token that begins a sequence ({@code bos_token}); a chat template writes it where it belongs. */
    public OptionalInt bosId() {
        return idOfNamed("bos_token");
    }

    /** All ids that end a generation: {@code eos_token} and those of generation_config.json, ascending. */
    public int[] stopIds() {
        return stopIds.clone();
    }

    /** Whether an id is one of {@link #stopIds}. */
    boolean isStop(int id) {
        return IntStream.of(stopIds).anyMatch(stop -> stop == id);
    }

    /** The id of a token by its text as the vocabulary writes it. */
    public OptionalInt idOf(String token) {
        Integer id = ids.get(token);
        return id == null ? OptionalInt.empty() : OptionalInt.of(id);
    }

    /** Whether an id is a special token, one that {@link SpecialTokens#SKIP} leaves out. */
    public boolean isSpecial(int id) {
        return id >= 0 && specialIds.get(id);
    }

    /** One more than the largest id, special tokens included. */
    public int vocabSize() {
        return vocabSize;
    }

    /** Special tokens by their role, such as {@code bos_token}: the variables a chat template may use. */
    public Map<String, String> namedTokens() {
        return namedTokens;
    }

    /** Frees the native memory. */
    @Override
    public void close() {
        original.close();
        disguised.close();
    }

    private boolean addsBos(JsonNode configured) {
        if (bosId().isEmpty()) {
            return false;
        }
        if (configured.isBoolean()) {
            return configured.booleanValue();
        }
        long[] added = original.encode("", true, false).getIds();
        return added.length > 0 && added[0] == bosId().getAsInt();
    }

    private OptionalInt idOfNamed(String role) {
        String token = namedTokens.get(role);
        return token == null ? OptionalInt.empty() : idOf(token);
    }

    private static int[] encode(HuggingFaceTokenizer tokenizer, String text) {
        if (text.isEmpty()) {
            return new int[0];
        }
        long[] encoded =
                tokenizer.encode(withoutLoneSurrogates(text), false, false).getIds();
        int[] result = new int[encoded.length];
        for (int i = 0; i < result.length; i++) {
            result[i] = Math.toIntExact(encoded[i]);
        }
        return result;
    }

    /** Half a surrogate pair, which JSON can smuggle in, has no UTF-8 form: the native library would not take it. */
    static String withoutLoneSurrogates(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (Character.isSurrogate(text.charAt(i))) {
                return new String(text.getBytes(StandardCharsets.UTF_16LE), StandardCharsets.UTF_16LE);
            }
        }
        return text;
    }

    private static void check(int id) {
        if (id < 0) {
            throw new IllegalArgumentException("Invalid token id " + id + ": ids are not negative");
        }
    }

    private static HuggingFaceTokenizer open(byte[] bytes, Path file) throws IOException {
        // The library would otherwise look on the network for a build that suits a GPU it finds.
        if (System.getProperty("ai.djl.offline") == null) {
            System.setProperty("ai.djl.offline", "true");
        }
        try {
            return HuggingFaceTokenizer.newInstance(new ByteArrayInputStream(bytes), PLAIN);
        } catch (RuntimeException e) {
            throw new IOException(
                    "Invalid tokenizer " + file + ": " + e.getMessage() + "; save it again with transformers", e);
        }
    }

    private static Map<String, Integer> vocabulary(JsonNode json) {
        Map<String, Integer> ids = new HashMap<>();
        JsonNode vocab = json.path("model").path("vocab");
        if (vocab.isArray()) {
            for (int id = 0; id < vocab.size(); id++) {
                ids.put(vocab.get(id).path(0).asText(), id);
            }
        } else {
            vocab.properties()
                    .forEach(entry -> ids.put(entry.getKey(), entry.getValue().asInt()));
        }
        for (JsonNode added : json.path("added_tokens")) {
            ids.put(added.path("content").asText(), added.path("id").asInt());
        }
        return ids;
    }

    private static BitSet specialIds(JsonNode json, Set<String> alsoSpecial) {
        BitSet special = new BitSet();
        for (JsonNode added : json.path("added_tokens")) {
            if (added.path("special").asBoolean()
                    || alsoSpecial.contains(added.path("content").asText())) {
                special.set(added.path("id").asInt());
            }
        }
        return special;
    }

    private int[] stopIds(TokenizerFiles files) {
        Set<Integer> stops = new LinkedHashSet<>();
        eosId().ifPresent(stops::add);
        JsonNode eos = files.generation().path("eos_token_id");
        if (eos.isInt()) {
            stops.add(eos.asInt());
        }
        eos.forEach(id -> stops.add(id.asInt()));
        return stops.stream().mapToInt(Integer::intValue).sorted().toArray();
    }
}
