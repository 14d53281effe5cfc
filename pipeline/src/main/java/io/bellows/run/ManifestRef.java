package io.bellows.run;

import io.bellows.trajectory.Table;

/**
 * Names a committed table: a step of the lineage.
 *
 * @param iteration the iteration
 * @param table the table
 * @param attempt the folder its manifest names, which is unique
 */
public record ManifestRef(int iteration, Table table, String attempt) {}
