package io.bellows.trajectory;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import org.apache.avro.Schema;
import org.apache.spark.sql.avro.SchemaConverters;
import org.apache.spark.sql.types.StructType;

/** Schemas of the tables, read from the Avro files beside this class. */
public final class Schemas {

    private Schemas() {}

    /** The Avro schema of a table: the contract, also for readers without Spark. */
    public static Schema avro(Table table) {
        String file = table.tableName() + ".avsc";
        try (InputStream in = Schemas.class.getResourceAsStream(file)) {
            return new Schema.Parser().parse(in);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot read the schema " + file + " of this jar; build it again", e);
        }
    }

    /** The same as a Spark schema: same names, order, types and nullability. */
    public static StructType struct(Table table) {
        return (StructType) SchemaConverters.toSqlType(avro(table)).dataType();
    }
}
