package io.bellows.udfs.sql;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;

/** Arrays of Spark SQL as arrays of Java, and back. */
final class SqlArrays {

    private SqlArrays() {}

    /** Numbers, NaN for null: that of a failed or unscored trajectory. */
    static double[] doubles(ArrayData array) {
        double[] values = new double[array.numElements()];
        for (int i = 0; i < values.length; i++) {
            values[i] = array.isNullAt(i) ? Double.NaN : array.getDouble(i);
        }
        return values;
    }

    /** True for 1; false for everything else, null included. */
    static boolean[] mask(ArrayData array) {
        boolean[] mask = new boolean[array.numElements()];
        for (int i = 0; i < mask.length; i++) {
            mask[i] = !array.isNullAt(i) && array.getInt(i) == 1;
        }
        return mask;
    }

    /** Texts, null for null. */
    static List<String> texts(ArrayData array) {
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < array.numElements(); i++) {
            texts.add(array.isNullAt(i) ? null : array.getUTF8String(i).toString());
        }
        return texts;
    }

    static ArrayData array(double[] values) {
        return ArrayData.toArrayData(values);
    }

    /** Arrays of numbers, one per trajectory; null for null. */
    static double[][] matrix(ArrayData array) {
        double[][] rows = new double[array.numElements()][];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = array.isNullAt(i) ? null : doubles(array.getArray(i));
        }
        return rows;
    }

    static ArrayData arrayOfArrays(double[][] rows) {
        Object[] arrays = new Object[rows.length];
        for (int i = 0; i < rows.length; i++) {
            arrays[i] = array(rows[i]);
        }
        return new GenericArrayData(arrays);
    }

    /** {@link #mask} of each element. */
    static boolean[][] masks(ArrayData array) {
        boolean[][] rows = new boolean[array.numElements()][];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = array.isNullAt(i) ? null : mask(array.getArray(i));
        }
        return rows;
    }
}
