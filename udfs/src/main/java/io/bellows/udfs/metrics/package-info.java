/** Metric parts that can be merged over micro-batches and ranks. */
package io.bellows.udfs.metrics;
