package io.bellows.config;

/** Whether a key may differ between the first start of a run and a later one. */
public enum OnResume {
    /** A change would alter what the run computes: refused. */
    FIXED,
    /** Length, cluster size, logging, retention: may change at any start. */
    FREE
}
