/**
 * Tools that a model can call: native tools with a state per trajectory, function tools from annotated methods, the registry that
 * loads both, and the session of one trajectory, in which nothing that a tool or a model does can do harm to another trajectory.
 */
package io.bellows.tool;
