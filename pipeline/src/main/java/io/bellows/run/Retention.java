package io.bellows.run;

import io.bellows.config.TrainerConfig;
import java.util.Collection;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Which checkpoints stay: the latest few and every so many-th. It looks at iterations that exist, not at memory, so a
 * restart changes nothing.
 *
 * @param latest how many of the newest stay, at least 1
 * @param every every so many-th iteration stays; -1: none for that reason
 */
record Retention(int latest, int every) {

    Retention {
        if (latest < 1) {
            throw new IllegalArgumentException(
                    "Invalid trainer.max_actor_ckpt_to_keep = " + latest + ": keep at least 1");
        }
    }

    /** Of a run whose iterations {@code trainer.save_freq} counts. */
    static Retention byIteration(TrainerConfig trainer) {
        return new Retention(trainer.maxActorCkptToKeep(), trainer.saveFreq());
    }

    /** Of a run each of whose iterations is a block of {@code trainer.save_freq} steps: where that is set, all stay. */
    static Retention byBlock(TrainerConfig trainer) {
        return new Retention(trainer.maxActorCkptToKeep(), trainer.saveFreq() > 0 ? 1 : -1);
    }

    /** Whether the checkpoint of {@code iteration} stays, given the newest committed iteration. */
    boolean keeps(int iteration, int newest) {
        return iteration > newest - latest || (every > 0 && iteration % every == 0);
    }

    /** Those of {@code iterations} that go, ascending. */
    SortedSet<Integer> expired(Collection<Integer> iterations, int newest) {
        SortedSet<Integer> expired = new TreeSet<>(iterations);
        expired.removeIf(iteration -> keeps(iteration, newest));
        return expired;
    }
}
