/**
 * Tool calls in the text of a model: from one turn to the calls it makes, and to what was meant as a call and is none.
 *
 * <p>A turn is read once from left to right, without regular expressions, so the time is linear in its length. Nothing in it is
 * evaluated.
 */
package io.bellows.text.toolcall;
