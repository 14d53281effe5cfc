/**
 * The executors: how many there are and what each has, and work that all of them do together. {@link io.bellows.cluster.WorkerGroup} is
 * the one way to have something done on every executor at once.
 */
package io.bellows.cluster;
