/** Our engine behind the OpenAI protocol. */
package io.bellows.serving;
