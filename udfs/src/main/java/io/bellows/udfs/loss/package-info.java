/** Losses with their derivatives, on ragged batches, with the denominators of the global mini-batch. */
package io.bellows.udfs.loss;
