/**
 * Models behind servers that speak the OpenAI protocol, as the {@link io.bellows.env.ModelClient} of environments: one server or several,
 * asked for token ids or for messages.
 */
package io.bellows.client;
