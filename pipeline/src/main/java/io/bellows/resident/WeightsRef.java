package io.bellows.resident;

import java.io.Serializable;
import java.nio.file.Path;

/**
 * Which weights a stage needs, and where they lie. Weights travel as a path, never as a broadcast.
 *
 * @param id identifies the values: two refs with the same id mean the same weights
 * @param version the iteration that wrote them; 0 for the model a run starts from
 * @param modelFolder Hugging Face folder
 * @param optimizerFile optimizer state with the weights in fp32 (several ranks wrote one file each beside it), or null where no update was made yet
 */
public record WeightsRef(String id, long version, String modelFolder, String optimizerFile) implements Serializable {

    /**
     * The weights that a run starts from.
     *
     * @param modelFolder Hugging Face folder; executors have another working directory, so the reference names it in full
     * @return the reference
     */
    public static WeightsRef initial(String modelFolder) {
        String folder = Path.of(modelFolder).toAbsolutePath().normalize().toString();
        return new WeightsRef("initial:" + folder, 0, folder, null);
    }
}
