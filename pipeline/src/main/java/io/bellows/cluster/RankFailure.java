package io.bellows.cluster;

/** A call of a {@link WorkerGroup} that a rank could not carry out. The cause is Spark's exception, which has or quotes the error of the rank. */
public final class RankFailure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    RankFailure(String about, Exception cause) {
        super(about + " failed: " + cause.getMessage(), cause);
    }
}
