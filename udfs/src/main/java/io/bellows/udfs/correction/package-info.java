/** Correction for the difference between the policy that sampled and the policy that learns. */
package io.bellows.udfs.correction;
