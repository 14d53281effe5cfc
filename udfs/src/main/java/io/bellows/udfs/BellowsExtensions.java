package io.bellows.udfs;

import io.bellows.udfs.sql.SqlFunction;
import io.bellows.udfs.sql.SqlFunctions;
import org.apache.spark.sql.SparkSessionExtensions;
import scala.Function1;
import scala.runtime.BoxedUnit;

/**
 * Registers every function of Bellows in a Spark session: {@code spark.sql.extensions=io.bellows.udfs.BellowsExtensions}. The jar
 * needs nothing but Spark. {@code DESCRIBE FUNCTION EXTENDED name} explains a function.
 */
public final class BellowsExtensions implements Function1<SparkSessionExtensions, BoxedUnit> {

    /** Spark makes an instance by this constructor. */
    public BellowsExtensions() {}

    @Override
    public BoxedUnit apply(SparkSessionExtensions extensions) {
        SqlFunctions.all().stream().map(SqlFunction::registration).forEach(extensions::injectFunction);
        return BoxedUnit.UNIT;
    }
}
