/** Generation: continuous batching over key-value slots, one prefill per group of samples, one thread that runs steps. */
package io.bellows.engine;
