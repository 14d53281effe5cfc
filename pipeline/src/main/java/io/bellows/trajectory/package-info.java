/** Trajectories and the tables they are kept in; one Avro schema per table is the source of every reader's schema. */
package io.bellows.trajectory;
