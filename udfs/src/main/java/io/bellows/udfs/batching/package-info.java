/** Plans: mini-batches of groups, ranks of balanced work, micro-batches under a token budget. */
package io.bellows.udfs.batching;
