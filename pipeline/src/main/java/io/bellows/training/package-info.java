/** The update: batching, losses on native log-probs, optimizer, checkpoints, supervised fine-tuning. */
package io.bellows.training;
