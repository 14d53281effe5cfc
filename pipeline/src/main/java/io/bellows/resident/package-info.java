/** What stays in an executor's memory between tasks, stages and iterations: models, engine, optimizer, tokenizer. */
package io.bellows.resident;
