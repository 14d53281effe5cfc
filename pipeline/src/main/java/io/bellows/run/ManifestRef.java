package io.bellows.run;

import io.bellows.trajectory.Table;

/**
 * Names a committed table: a step of the lineage.
 *
 * @param iteration the iteration
 * @param round the round of its rollout, from 0
 * @param table the table
 * @param attempt the folder its manifest names, which is unique
 */
public record ManifestRef(int iteration, int round, Table table, String attempt) {}
