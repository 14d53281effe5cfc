package io.bellows.resident;

import ai.djl.Device;
import io.bellows.model.Head;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.TaskContext;
import org.apache.spark.resource.ResourceInformation;

/**
 * The models of this JVM, and the only static mutable state of Bellows: a model load per partition is the classic
 * mistake of inference on Spark, so models outlive tasks and stages.
 */
public final class ExecutorHost {

    private static final Map<Slot, ResidentModel> MODELS = new LinkedHashMap<>();

    private ExecutorHost() {}

    /** Which model of which run on which device. */
    private record Slot(String owner, Role role, Device device) {}

    /** What a model is for. */
    public enum Role {
        /** Generates, is scored, and is updated in place. */
        POLICY(Head.TOKENS, "actor"),
        /** Is scored and never changes. */
        REFERENCE(Head.TOKENS, null),
        /** Values tokens and is updated in place. */
        CRITIC(Head.VALUE, "critic"),
        /** Scores whole trajectories and never changes. */
        REWARD_MODEL(Head.SCORE, null);

        private final Head head;
        private final String folder;

        Role(Head head, String folder) {
            this.head = head;
            this.folder = folder;
        }

        Head head() {
            return head;
        }

        /** Its folder in a checkpoint, and the name of its optimizer state; null for a model that never changes. */
        String folder() {
            return folder;
        }
    }

    /**
     * Returns a model of this executor at the version asked for, loading what is missing.
     *
     * @param owner the run; a model is never shared by two runs
     * @param role what it is for
     * @param weights the version
     * @param settings how it is set up the first time
     * @return the model, which stays the host's
     */
    public static ResidentModel model(String owner, Role role, WeightsRef weights, ResidentSettings settings) {
        ResidentModel model;
        synchronized (MODELS) {
            model = MODELS.computeIfAbsent(
                    new Slot(owner, role, device()), slot -> ResidentModel.load(role, slot.device, weights, settings));
        }
        model.prepareThread();
        model.ensure(weights);
        return model;
    }

    /**
     * Closes the models of a run in this JVM.
     *
     * @param owner the run
     */
    public static void release(String owner) {
        synchronized (MODELS) {
            MODELS.entrySet().removeIf(entry -> {
                boolean ours = entry.getKey().owner.equals(owner);
                if (ours) {
                    entry.getValue().close();
                }
                return ours;
            });
        }
    }

    /**
     * Returns the device that Spark assigned to this task; several tasks of an executor can share one. The environment variable {@code
     * BELLOWS_DEVICE=cpu} keeps an executor on the CPU whatever Spark assigns.
     *
     * @return the CPU where Spark assigned none
     */
    public static Device device() {
        String address = gpuAddress();
        return address == null || "cpu".equals(System.getenv("BELLOWS_DEVICE"))
                ? Device.cpu()
                : Device.gpu(Integer.parseInt(address));
    }

    /**
     * Returns the first GPU address that Spark assigned to this task.
     *
     * @return an address, or null for none
     */
    public static String gpuAddress() {
        TaskContext task = TaskContext.get();
        ResourceInformation gpu = task == null ? null : task.resourcesJMap().get("gpu");
        return gpu == null ? null : gpu.addresses()[0];
    }
}
