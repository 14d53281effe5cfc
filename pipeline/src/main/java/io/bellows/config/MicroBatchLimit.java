package io.bellows.config;

import java.io.Serializable;

/**
 * How large a micro-batch may be. One of the two is set.
 *
 * @param maxTokens the hard token budget of {@code use_dynamic_bsz: true}
 * @param rows the number of rows of {@code use_dynamic_bsz: false}
 */
public record MicroBatchLimit(Integer maxTokens, Integer rows) implements Serializable {}
