/** Algorithm mathematics of reinforcement learning on plain arrays, in double precision and without native code. */
package io.bellows.udfs;
