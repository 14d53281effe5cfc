package io.bellows.training;

import io.bellows.training.collective.Collective;
import io.bellows.udfs.loss.BatchTotals;
import io.bellows.udfs.metrics.Metric;
import io.bellows.udfs.metrics.Metrics;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes optimizer steps on the weights of a policy or a critic in place: one per mini-batch, whose gradient is accumulated over
 * micro-batches.
 */
public final class Trainer {

    private static final Logger LOG = LoggerFactory.getLogger(Trainer.class);
    private static final int MAX_SKIPPED_IN_A_ROW = 10;
    private static final int NAMED_ROWS = 5;

    private final TrainedModel model;
    private final AdamW optimizer;
    private final UpdateSettings settings;
    private final Collective ranks;
    private final Sharding sharding;

    /**
     * Creates a trainer.
     *
     * @param model updated in place
     * @param optimizer holds the moments
     * @param settings objective, schedule and budgets
     */
    public Trainer(TrainedModel model, AdamW optimizer, UpdateSettings settings) {
        this(model, optimizer, settings, Collective.alone());
    }

    /**
     * Creates the trainer of one of several ranks, which take every step together.
     *
     * @param model updated in place; the same on every rank
     * @param optimizer holds the moments of this rank's block
     * @param settings objective, schedule and budgets
     * @param ranks connects them
     */
    public Trainer(TrainedModel model, AdamW optimizer, UpdateSettings settings, Collective ranks) {
        this.model = model;
        this.optimizer = optimizer;
        this.settings = settings;
        this.ranks = ranks;
        this.sharding = new Sharding(model, optimizer, ranks);
    }

    /**
     * Takes one optimizer step.
     *
     * @param miniBatch its rows, of several ranks this rank's, possibly none
     * @return metrics of the step, under verl's names; those of several ranks are to be merged
     * @throws IllegalStateException if loss or gradient was not finite ten times in a row, counted over all updates of a run
     */
    public Metrics step(List<TrainingSequence> miniBatch) {
        model.gradients().zero();
        Objective.Prepared prepared =
                settings.objective().prepare(model, settings.microBatching(), miniBatch, optimizer.stepsTaken(), ranks);
        List<TrainingSequence> batch = prepared.rows();
        MicroBatch whole = MicroBatch.of(batch);
        BatchTotals totals = sharding.sum(settings.objective().totals(whole.sequences()));
        Metrics metrics = prepared.metrics();
        List<TrainingSequence> notFinite = new ArrayList<>();
        for (int[] members : settings.microBatching().plan(batch)) {
            MicroBatch micro = whole.part(members);
            if (!micro.rows().isEmpty()) {
                Objective.Part part = settings.objective().accumulate(model, micro, totals);
                metrics = metrics.merge(part.metrics());
                if (!Double.isFinite(part.loss())) {
                    notFinite.addAll(micro.rows());
                }
            }
        }
        Sharding.Gradient gradient = sharding.reduce(notFinite.isEmpty());
        Metrics step = gradient.finite() ? apply(gradient.norm()) : skip(notFinite.isEmpty() ? batch : notFinite);
        Metrics learned =
                gradient.finite() ? metrics : Metrics.empty(); // one loss that is no number would be the iteration's
        return sharding.speaks() ? learned.merge(step) : learned;
    }

    /**
     * Makes sure that all ranks came to the same weights.
     *
     * @throws IllegalStateException if a bit differs
     */
    public void requireSameWeights() {
        sharding.requireSameWeights();
    }

    /**
     * Returns the seconds that this rank spent in exchanges with others, waiting for them included.
     *
     * @return 0 for one rank
     */
    public double communicationSeconds() {
        return sharding.seconds();
    }

    /**
     * Returns the optimizer steps taken over all starts of the run.
     *
     * @return the count
     */
    public long optimizerSteps() {
        return optimizer.stepsTaken();
    }

    private Metrics apply(double norm) {
        double learningRate = settings.schedule().at(optimizer.stepsTaken());
        if (settings.gradClip() > 0 && norm > settings.gradClip()) {
            sharding.own().scale(settings.gradClip() / (norm + 1e-6));
        }
        optimizer.step(sharding.own(), learningRate);
        if (ranks.size() > 1) {
            sharding.share();
            model.weights().refresh();
        }
        return Metrics.empty()
                .with(name("mini_batches"), Metric.sum(1))
                .with(name("lr"), Metric.mean(learningRate, 1))
                .with(name("grad_norm"), Metric.mean(norm, 1))
                .with(name("skipped_steps"), Metric.sum(0));
    }

    /** Leaves the step out, and tells where to look. */
    private Metrics skip(List<TrainingSequence> rows) {
        int inARow = optimizer.skip();
        String section = settings.objective().section();
        String where = named(rows);
        LOG.warn("Left out an optimizer step of the {}: loss or gradient was not finite, in {}", section, where);
        if (inARow >= MAX_SKIPPED_IN_A_ROW) {
            throw new IllegalStateException("Cannot train on: loss or gradient of the " + section + " was not finite "
                    + inARow + " times in a row, now in " + where + ". Lower " + section
                    + ".optim.lr, or look for extreme rewards and log-probs in these rows.");
        }
        return Metrics.empty().with(name("mini_batches"), Metric.sum(1)).with(name("skipped_steps"), Metric.sum(1));
    }

    private static String named(List<TrainingSequence> rows) {
        String first = rows.stream().limit(NAMED_ROWS).map(TrainingSequence::id).collect(Collectors.joining(", "));
        return rows.size() <= NAMED_ROWS ? first : first + " and " + (rows.size() - NAMED_ROWS) + " more";
    }

    private String name(String metric) {
        return settings.objective().section() + "/" + metric;
    }
}
