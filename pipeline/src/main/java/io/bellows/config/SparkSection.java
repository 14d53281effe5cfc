package io.bellows.config;

import java.io.Serializable;
import java.util.Map;

/**
 * Section {@code spark}: properties of the Spark session. {@code master}, {@code spark.master} and nested objects are
 * accepted; what this record holds always starts with {@code spark.}. The cluster may change at every start.
 *
 * @param properties full property name to value, sorted
 */
public record SparkSection(@OtherKeys Map<String, String> properties) implements Serializable {}
