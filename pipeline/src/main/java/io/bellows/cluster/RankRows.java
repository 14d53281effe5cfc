package io.bellows.cluster;

import static org.apache.spark.sql.functions.col;

import java.util.Arrays;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

/** A Dataset that is split into ranks: all of it on the driver, and a rank's own part in the worker of a rank. */
public final class RankRows {

    private final Dataset<Row> rows;
    private final Column rank;
    private final Column[] order;
    private final Iterator<Row> own;

    private RankRows(Dataset<Row> rows, Column rank, Column[] order, Iterator<Row> own) {
        this.rows = rows;
        this.rank = rank;
        this.order = order;
        this.own = own;
    }

    /**
     * Rows in parts of about the same size.
     *
     * @param rows the rows
     * @return the rows, for the call of a worker
     */
    public static RankRows of(Dataset<Row> rows) {
        return new RankRows(rows, null, new Column[0], null);
    }

    /**
     * Rows that say themselves where they belong.
     *
     * @param rows the rows
     * @param rank an integer column, below the number of ranks
     * @param order columns to sort each part by
     * @return the rows, for the call of a worker
     */
    public static RankRows dealt(Dataset<Row> rows, String rank, String... order) {
        return new RankRows(
                rows, col(rank), Arrays.stream(order).map(name -> col(name)).toArray(Column[]::new), null);
    }

    /** A rank's own part. */
    static RankRows own(Iterator<Row> rows) {
        return new RankRows(null, null, null, rows);
    }

    /**
     * Returns this rank's rows, once.
     *
     * @return the rows
     * @throws NoSuchElementException on the driver
     */
    public Iterator<Row> iterator() {
        if (own == null) {
            throw new NoSuchElementException("Cannot read the rows of a rank on the driver");
        }
        return own;
    }

    JavaRDD<Row> partitions(int ranks) {
        Dataset<Row> parts = ranks == 1
                ? rows.repartition(1)
                : rank == null ? rows.repartition(ranks) : rows.repartitionById(ranks, rank);
        return (order.length == 0 ? parts : parts.sortWithinPartitions(order)).javaRDD();
    }
}
