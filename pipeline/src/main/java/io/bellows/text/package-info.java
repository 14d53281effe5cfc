/** Text in and out of a model: tokenizer, chat template, and the ids of a conversation. */
package io.bellows.text;
