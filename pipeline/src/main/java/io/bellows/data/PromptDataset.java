package io.bellows.data;

import static org.apache.spark.sql.functions.broadcast;

import io.bellows.data.DatasetOptions.BadRows;
import io.bellows.data.DatasetOptions.Overlong;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.storage.StorageLevel;

/**
 * The prompts of a run: rows of {@link PromptSchema#PROMPT}, numbered without gaps in the order of files and lines,
 * whatever the partitioning. Held in memory or on local disk of the executors until closed.
 */
public final class PromptDataset implements AutoCloseable {

    private static final StructType POSITION =
            new StructType().add("row_index", DataTypes.LongType, false).add("position", DataTypes.IntegerType, false);

    private final Dataset<Row> rows;
    private final LoadReport report;

    private PromptDataset(Dataset<Row> rows, LoadReport report) {
        this.rows = rows;
        this.report = report;
    }

    /**
     * Reads files of any known layout.
     *
     * @param paths files, comma lists, globs or folders, on any Hadoop file system
     * @param length measures prompts
     * @throws InvalidDatasetException when files are missing or of no known layout, when rows are bad or prompts too long
     *     and the options do not allow it, or when no row is left; the message lists files, lines and reasons
     */
    public static PromptDataset load(
            SparkSession spark, List<String> paths, DatasetOptions options, PromptLength.Source length) {
        List<SourceFile> files = DatasetFiles.find(spark, paths);
        RawRows raw = new RawRows(spark);
        List<Layout> layouts = layouts(raw, files, options);
        JavaRDD<PromptRow> read = raw.read(files)
                .mapPartitions(new PromptRows(files, layouts, options, length))
                .persist(StorageLevel.MEMORY_AND_DISK());
        try {
            LoadFindings findings = LoadFindings.of(read, options.maxPromptLength());
            refuse(findings, files, options);
            JavaPairRDD<PromptRow, Long> numbered = numbered(read, options);
            Dataset<Row> rows = spark.createDataFrame(
                            numbered.map(pair -> pair._1().numbered(pair._2())), PromptSchema.PROMPT)
                    .persist(StorageLevel.MEMORY_AND_DISK());
            // Fills the cache while the rows read are still there: prompts are tokenized once, not once a use.
            rows.count();
            return new PromptDataset(rows, report(findings, Repeats.of(numbered.keys()), files, layouts));
        } finally {
            read.unpersist();
        }
    }

    /** Rows of {@link PromptSchema#PROMPT}, in order of row_index. */
    public Dataset<Row> rows() {
        return rows;
    }

    /** Number of rows. */
    public long size() {
        return report.rowsKept();
    }

    /** What the load met. */
    public LoadReport report() {
        return report;
    }

    /**
     * The rows of a batch, with one more column: {@code position}, the place in the iteration, which is also their order.
     *
     * @param firstPosition the position of the first row
     */
    public Dataset<Row> batch(EpochOrder.Batch batch, int firstPosition) {
        List<Row> positions = new ArrayList<>();
        for (int i = 0; i < batch.rowIndices().length; i++) {
            positions.add(RowFactory.create(batch.rowIndices()[i], firstPosition + i));
        }
        Dataset<Row> wanted = rows.sparkSession().createDataFrame(positions, POSITION);
        return rows.join(broadcast(wanted), "row_index").orderBy("position");
    }

    @Override
    public void close() {
        rows.unpersist();
    }

    private static List<Layout> layouts(RawRows raw, List<SourceFile> files, DatasetOptions options) {
        LayoutDetection detection = new LayoutDetection(options);
        List<Layout> layouts = new ArrayList<>();
        List<String> errors = new ArrayList<>();
        for (SourceFile file : files) {
            try {
                RawRows.Sample sample = raw.sample(file);
                layouts.add(detection.detect(file.displayPath(), sample.columns(), sample.rows()));
            } catch (InvalidDatasetException e) {
                errors.add(e.getMessage());
            }
        }
        if (!errors.isEmpty()) {
            throw new InvalidDatasetException(String.join("\n", errors));
        }
        return layouts;
    }

    private static void refuse(LoadFindings findings, List<SourceFile> files, DatasetOptions options) {
        LoadFindings.Listing bad = findings.bad();
        LoadFindings.Listing overlong = findings.overlong();
        StringBuilder text = new StringBuilder();
        if (bad.total() > 0 && options.badRows() == BadRows.FAIL) {
            text.append("Cannot read %d of %d rows; mend them, or skip and count them with data.on_bad_row=skip:"
                    .formatted(bad.total(), findings.rows()));
            LoadReport.list(text, bad.problems(files), bad.total());
        }
        if (overlong.total() > 0 && options.overlong() == Overlong.REFUSE) {
            text.append(text.length() == 0 ? "" : "\n");
            text.append(("Invalid dataset: %d prompts are longer than data.max_prompt_length=%d (the longest has %d"
                            + " tokens); raise it, or leave them out with data.filter_overlong_prompts=true:")
                    .formatted(overlong.total(), options.maxPromptLength(), findings.longestPrompt()));
            LoadReport.list(text, overlong.problems(files), overlong.total());
        }
        if (text.length() == 0 && findings.goodRows() == 0) {
            text.append("Invalid dataset: no row is left of %d read, %d cannot be read, %d are longer than %d tokens"
                    .formatted(findings.rows(), bad.total(), overlong.total(), options.maxPromptLength()));
            LoadReport.list(text, bad.problems(files), bad.total());
        }
        if (text.length() > 0) {
            throw new InvalidDatasetException(text.toString());
        }
    }

    /** Good rows in order of their places, numbered; Spark's own row ids have gaps and depend on partitions. */
    private static JavaPairRDD<PromptRow, Long> numbered(JavaRDD<PromptRow> read, DatasetOptions options) {
        int maxPromptLength = options.maxPromptLength();
        long maxSamples = options.maxSamples();
        return read.filter(row -> row.problem() == null && row.promptLength() <= maxPromptLength)
                .keyBy(PromptRow::place)
                .sortByKey()
                .values()
                .zipWithIndex()
                .filter(pair -> maxSamples < 0 || pair._2() < maxSamples);
    }

    private static LoadReport report(
            LoadFindings findings, Repeats repeats, List<SourceFile> files, List<Layout> layouts) {
        List<LoadReport.File> read = new ArrayList<>();
        for (SourceFile file : files) {
            read.add(new LoadReport.File(
                    file.displayPath(), file.digest(), layouts.get(file.index()).name()));
        }
        return new LoadReport(
                read,
                findings.rows(),
                repeats.rows(),
                findings.bad().total(),
                findings.bad().problems(files),
                findings.overlong().total(),
                findings.longestPrompt(),
                repeats.rows() - repeats.prompts(),
                repeats.rows() - repeats.pairs(),
                repeats.withoutGroundTruth(),
                findings.flagged().total(),
                findings.flagged().problems(files));
    }
}
