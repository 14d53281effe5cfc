/** What ranks of an update exchange: sums and copies of vectors over sockets, with deadlines. No Spark, no libtorch. */
package io.bellows.training.collective;
