/** Advantage estimators: how much better a trajectory did than expected. */
package io.bellows.udfs.advantage;
