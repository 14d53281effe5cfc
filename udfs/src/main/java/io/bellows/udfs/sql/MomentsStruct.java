package io.bellows.udfs.sql;

import io.bellows.udfs.statistics.Moments;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** {@link Moments} as a struct in a row of Spark. */
public final class MomentsStruct {

    /** count, mean, squares, min, max. */
    public static final StructType TYPE = new StructType()
            .add("count", DataTypes.LongType)
            .add("mean", DataTypes.DoubleType)
            .add("squares", DataTypes.DoubleType)
            .add("min", DataTypes.DoubleType)
            .add("max", DataTypes.DoubleType);

    private MomentsStruct() {}

    /**
     * Writes moments.
     *
     * @param moments the moments
     * @return a row of {@link #TYPE}
     */
    public static Row write(Moments moments) {
        return RowFactory.create(moments.count(), moments.mean(), moments.squares(), moments.min(), moments.max());
    }

    /**
     * Reads moments.
     *
     * @param row a row of {@link #TYPE}
     * @return the moments it holds
     */
    public static Moments read(Row row) {
        return new Moments(row.getLong(0), row.getDouble(1), row.getDouble(2), row.getDouble(3), row.getDouble(4));
    }
}
