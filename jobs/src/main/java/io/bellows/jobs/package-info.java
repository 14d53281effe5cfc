/** Entry points: the {@code bellows} command and its sub-commands. */
package io.bellows.jobs;
