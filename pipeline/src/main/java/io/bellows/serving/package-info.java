/** Our engine behind the OpenAI protocol, and clients of servers that speak it. */
package io.bellows.serving;
