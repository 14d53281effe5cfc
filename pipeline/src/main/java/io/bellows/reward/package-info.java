/**
 * Rewards of finished trajectories: exact, numeric, format and length checks and their weighted sum.
 *
 * <p>Responses are hostile text: nothing here evaluates them, every pattern runs on RE2/J in linear time, and numbers are
 * bounded before they are read.
 */
package io.bellows.reward;
