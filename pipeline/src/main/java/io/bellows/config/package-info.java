/**
 * Configuration: records bound from YAML and {@code key=value} overrides, with verl's key names, every rule checked at once.
 * {@link io.bellows.config.BellowsConfig} is the root; a key is a record component with a {@link io.bellows.config.Setting}.
 */
package io.bellows.config;
