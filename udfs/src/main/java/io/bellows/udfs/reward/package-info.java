/** Scores of a response by rule: the text of an answer, its numbers, its form and its length. Nothing in a text is evaluated. */
package io.bellows.udfs.reward;
