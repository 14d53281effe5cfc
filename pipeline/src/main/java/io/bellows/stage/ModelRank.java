package io.bellows.stage;

import io.bellows.cluster.RankRows;
import io.bellows.cluster.Rendezvous;
import io.bellows.resident.ExecutorHost;
import io.bellows.resident.ExecutorHost.Role;
import io.bellows.resident.ResidentModel;
import io.bellows.resident.ResidentSettings;
import io.bellows.resident.WeightsRef;
import io.bellows.training.Trainer;
import io.bellows.training.TrainingSequence;
import io.bellows.training.UpdateSettings;
import io.bellows.training.collective.Collective;
import io.bellows.udfs.metrics.Metric;
import io.bellows.udfs.metrics.Metrics;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.spark.sql.Row;

/** One rank on its executor. The models are the executor's; a rank that comes to another one makes them again from the checkpoint. */
final class ModelRank implements ModelWorker {

    private final String owner;
    private final ResidentSettings resident;
    private final UpdateSettings settings;
    private final Rendezvous meeting;

    /** @param settings objective, schedule and budgets; null where nothing is updated */
    ModelRank(String owner, ResidentSettings resident, UpdateSettings settings, Rendezvous meeting) {
        this.owner = owner;
        this.resident = resident;
        this.settings = settings;
        this.meeting = meeting;
    }

    @Override
    public void load(Map<Role, WeightsRef> models) {
        models.forEach((role, weights) -> ExecutorHost.model(owner, role, weights, resident));
    }

    @Override
    public List<Part> update(RankRows rows, Change change) {
        return List.of(update(rows.iterator(), change));
    }

    @Override
    public List<Part> keep(Change change) {
        return List.of(update(Collections.emptyIterator(), change));
    }

    private Part update(Iterator<Row> rows, Change change) {
        TreeMap<Integer, List<TrainingSequence>> miniBatches = new TreeMap<>();
        rows.forEachRemaining(row -> miniBatches
                .computeIfAbsent(row.getAs("mini_batch"), index -> new ArrayList<>())
                .add(TrainingRows.read(row)));
        ResidentModel model = ExecutorHost.model(owner, change.role(), change.from(), resident);
        try (Collective ranks = meeting.join(model.rankInMemory(meeting.ranks()))) {
            try {
                String attempt = change.id() + "-" + meeting.attempt();
                Path folder = Path.of(change.checkpoint()).resolve(".attempt-" + attempt);
                UpdateStage.Result result = model.update(
                        change.from(),
                        settings,
                        folder,
                        attempt,
                        ranks,
                        trainer -> take(trainer, miniBatches, ranks, attempt));
                return new Part(ranks.rank(), result, folder.toString());
            } catch (RuntimeException | Error e) {
                ranks.abort(e);
                throw e;
            }
        }
    }

    /** Every rank takes part in every step, also where the plan has nothing for it. */
    private UpdateStage.Result take(
            Trainer trainer, Map<Integer, List<TrainingSequence>> miniBatches, Collective ranks, String id) {
        Metrics metrics = Metrics.empty();
        for (int index : stepsOfAll(ranks, miniBatches.keySet())) {
            metrics = metrics.merge(trainer.step(miniBatches.getOrDefault(index, List.of())));
        }
        if (ranks.size() > 1) {
            metrics = metrics.with(
                    "timing_s/" + settings.objective().section() + "_communication",
                    Metric.mean(trainer.communicationSeconds(), 1));
        }
        return new UpdateStage.Result(id, metrics, trainer.optimizerSteps(), ranks.size());
    }

    private static Iterable<Integer> stepsOfAll(Collective ranks, Iterable<Integer> own) {
        List<Integer> mine = new ArrayList<>();
        own.forEach(mine::add);
        ByteBuffer told = ByteBuffer.allocate(mine.size() * Integer.BYTES);
        mine.forEach(told::putInt);
        TreeSet<Integer> all = new TreeSet<>();
        for (byte[] others : ranks.gather(told.array())) {
            ByteBuffer steps = ByteBuffer.wrap(others);
            while (steps.hasRemaining()) {
                all.add(steps.getInt());
            }
        }
        return all;
    }
}
