package io.bellows.run;

/**
 * One file behind a manifest.
 *
 * @param path relative to the folder of the manifest
 * @param rows rows of a Parquet file; 0 for others
 * @param bytes size
 * @param sha256 checksum, hexadecimal
 */
public record DataFile(String path, long rows, long bytes, String sha256) {}
