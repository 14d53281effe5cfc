/** Decoder models: configuration, weights, Hugging Face folders and the scripts that compute with them. */
package io.bellows.model;
