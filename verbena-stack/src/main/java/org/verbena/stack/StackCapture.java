// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack;

import org.verbena.stack.model.CaptureStatistics;
import org.verbena.stack.wire.Capture;

/**
 * Has the frames of a {@link Stack} written to a file, see {@link Stack#capture}, up to {@link #close} or the end of the stack. Any thread may call any method.
 */
public final class StackCapture implements AutoCloseable {
    private final Engine engine;
    private final Capture capture;

    StackCapture(Engine engine, Capture capture) {
        this.engine = engine;
        this.capture = capture;
    }

    /** How many frames there are, and what has gone wrong, if anything has. */
    public CaptureStatistics statistics() {
        engine.lock.lock();
        try {
            return capture.statistics();
        } finally {
            engine.lock.unlock();
        }
    }

    /** Ends the file, which is whole then. */
    @Override
    public void close() {
        engine.lock.lock();
        try {
            engine.endCapture(capture);
        } finally {
            engine.lock.unlock();
        }
    }
}
