package io.bellows.stage;

import io.bellows.udfs.advantage.BatchNormalization;
import io.bellows.udfs.advantage.BatchNormalization.Rescaling;
import io.bellows.udfs.sql.MomentsStruct;
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
     * @param members an array of structs with {@code group_id, sample_index, moments, score} for each segment, in the order in
     *     which sums are to be made; segments of a trajectory, which counts once, stand one after the other
     */
    Column of(Column members) {
        return functions.udf(this, STEP).withName("batch_rescaling").apply(members);
    }

    @Override
    public Row call(Seq<Row> members) {
        Moments tokens = Moments.NONE;
        long scored = 0;
        long nonZero = 0;
        String trajectory = null;
        for (int i = 0; i < members.size(); i++) {
            Row member = members.apply(i);
            tokens = tokens.merge(MomentsStruct.read(member.getAs("moments")));
            String own = member.getAs("group_id") + "/" + member.getAs("sample_index");
            if (!own.equals(trajectory)) {
                scored++;
                nonZero += member.<Double>getAs("score") == 0 ? 0 : 1;
                trajectory = own;
            }
        }
        Rescaling step = normalization.rescaling(tokens, scored, nonZero);
        return RowFactory.create(step.shift(), step.scale());
    }
}
