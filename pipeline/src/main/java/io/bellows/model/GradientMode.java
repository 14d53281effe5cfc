package io.bellows.model;

import ai.djl.pytorch.jni.JniUtils;

/**
 * The calling thread's gradient mode for the length of a try block.
 *
 * <p>libtorch keeps the mode per thread and switches it on for every new thread, so each entry point sets what it needs.
 */
final class GradientMode implements AutoCloseable {

    private final boolean before = JniUtils.isGradMode();

    private GradientMode(boolean enabled) {
        JniUtils.setGradMode(enabled);
    }

    static GradientMode on() {
        return new GradientMode(true);
    }

    static GradientMode off() {
        return new GradientMode(false);
    }

    @Override
    public void close() {
        JniUtils.setGradMode(before);
    }
}
