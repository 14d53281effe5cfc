package io.bellows.run;

import java.io.Serializable;

/**
 * One file behind a manifest.
 *
 * @param path relative to the folder of the manifest
 * @param rows rows of a Parquet file; 0 for others
 * @param bytes size
 * @param sha256 checksum, hexadecimal
 */
public record DataFile(String path, long rows, long bytes, String sha256) implements Serializable {}
