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
 */
record Models(WeightsRef policy, WeightsRef critic) {

    /** Those of the newest checkpoint, or those that the run starts from. */
    static Models of(BellowsConfig config, Optional<Checkpoint> newest) {
        return newest.map(checkpoint -> checkpointed(
                        checkpoint,
                        checkpoint.manifestSha256(),
                        config.usesCritic() ? checkpoint.manifestSha256() : null))
                .orElseGet(() -> new Models(
                        WeightsRef.initial(config.model().path()),
                        config.usesCritic() ? WeightsRef.initial(config.criticPath()) : null));
    }

    /**
     * Those of a checkpoint.
     *
     * @param policyId identifies the policy's values
     * @param criticId identifies the critic's, or null without one
     */
    static Models checkpointed(Checkpoint checkpoint, String policyId, String criticId) {
        return new Models(
                reference(Role.POLICY, policyId, checkpoint),
                criticId == null ? null : reference(Role.CRITIC, criticId, checkpoint));
    }

    private static WeightsRef reference(Role role, String id, Checkpoint checkpoint) {
        return ResidentModel.checkpointed(role, id, checkpoint.iteration(), checkpoint.localPath());
    }
}
