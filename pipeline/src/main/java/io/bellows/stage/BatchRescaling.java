package io.bellows.stage;

import io.bellows.udfs.advantage.BatchNormalization;
import io.bellows.udfs.advantage.BatchNormalization.Rescaling;
import io.bellows.udfs.statistics.Moments;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.collection.Seq;

/**
 * The step that normalizes a batch, as a function on the moments and scores of its members.
 *
 * @param normalization how a batch is normalized
 */
record BatchRescaling(BatchNormalization normalization) implements UDF1<Seq<Row>, Row> {

    private static final StructType STEP =
            new StructType().add("shift", DataTypes.DoubleType).add("scale", DataTypes.DoubleType);

    /**
     * The step as a struct of {@code shift} and {@code scale}.
     *
     * @param members an array of structs with {@code moments} and {@code score}, in the order in which sums are to be made
     */
    Column of(Column members) {
        return functions.udf(this, STEP).withName("batch_rescaling").apply(members);
    }

    @Override
    public Row call(Seq<Row> members) {
        Moments tokens = Moments.NONE;
        long nonZero = 0;
        for (int i = 0; i < members.size(); i++) {
            Row member = members.apply(i);
            tokens = tokens.merge(GroupEstimates.moments(member.getAs("moments")));
            nonZero += member.<Double>getAs("score") == 0 ? 0 : 1;
        }
        Rescaling step = normalization.rescaling(tokens, members.size(), nonZero);
        return RowFactory.create(step.shift(), step.scale());
    }
}
