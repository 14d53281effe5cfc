package io.bellows.run;

import io.bellows.config.BellowsConfig;
import io.bellows.resident.ExecutorHost.Role;
import io.bellows.resident.ResidentModel;
import io.bellows.resident.WeightsRef;
import java.util.Optional;

/**
 * The weights that an iteration works with.
 *
 * @param policy the policy, which samples
 * @param critic the critic, or null without one
 * @param ranks how many executors made them, and so have them in memory; 0 for those read from the run directory
 */
record Models(WeightsRef policy, WeightsRef critic, int ranks) {

    /** Those of the newest checkpoint, or those that the run starts from. */
    static Models of(BellowsConfig config, Optional<Checkpoint> newest) {
        return newest.map(checkpoint -> checkpointed(
                        checkpoint,
                        checkpoint.manifestSha256(),
                        config.usesCritic() ? checkpoint.manifestSha256() : null,
                        0))
                .orElseGet(() -> new Models(
                        WeightsRef.initial(config.model().path()),
                        config.usesCritic() ? WeightsRef.initial(config.criticPath()) : null,
                        0));
    }

    /**
     * Those of a checkpoint.
     *
     * @param policyId identifies the policy's values
     * @param criticId identifies the critic's, or null without one
     * @param ranks how many executors have them in memory
     */
    static Models checkpointed(Checkpoint checkpoint, String policyId, String criticId, int ranks) {
        return new Models(
                reference(Role.POLICY, policyId, checkpoint),
                criticId == null ? null : reference(Role.CRITIC, criticId, checkpoint),
                ranks);
    }

    private static WeightsRef reference(Role role, String id, Checkpoint checkpoint) {
        return ResidentModel.checkpointed(role, id, checkpoint.iteration(), checkpoint.localPath());
    }
}
