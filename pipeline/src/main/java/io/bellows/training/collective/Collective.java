package io.bellows.training.collective;

import java.util.List;

/**
 * The ranks of an update as one of them sees them. All ranks call the same operations in the same order; an operation that cannot
 * end throws a {@link CollectiveException} on every rank. Not thread-safe.
 *
 * <p>A vector is cut into as many blocks of nearly equal length as there are ranks; block r is rank r's.
 */
public interface Collective extends AutoCloseable {

    /** Returns this rank's number, from 0. */
    int rank();

    /** Returns the number of ranks, at least 1. */
    int size();

    /**
     * Adds the vectors of all ranks up, each rank its own block. The order of the sum is fixed, so that the same vectors give the
     * same bits.
     *
     * @param values as long on every rank; holds the sum in this rank's block afterwards, and partial sums in the others
     */
    void reduceScatter(FloatVector values);

    /**
     * Copies each rank's block to all other ranks.
     *
     * @param values as long on every rank; the same bits on every rank afterwards
     */
    void allGather(FloatVector values);

    /**
     * Tells every rank what each has to say.
     *
     * @param own a few bytes, not necessarily as many on every rank
     * @return what the ranks gave, by rank
     */
    List<byte[]> gather(byte[] own);

    /**
     * Tells the other ranks that this one cannot go on, and why. Whatever they wait for fails with that reason. Nothing can be called
     * afterwards but {@link #close}.
     *
     * @param cause what went wrong here, or elsewhere and was heard of here
     */
    void abort(Throwable cause);

    /** Ends the connections; an operation of another rank that needs this one fails. */
    @Override
    void close();

    /**
     * Returns the collective of a single rank, which costs nothing.
     *
     * @return rank 0 of 1
     */
    static Collective alone() {
        return Alone.INSTANCE;
    }
}
