// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack;

import java.io.IOException;
import java.nio.file.Path;

import org.jspecify.annotations.Nullable;

import org.verbena.stack.model.CaptureStatistics;
import org.verbena.stack.wire.Capture;
import org.verbena.stack.wire.FrameFilter;

/**
 * Has the frames of a {@link Stack} written to a file, see {@link Stack#capture} and {@link TcpSocket#capture}, up to {@link #close} or the end of the stack. Any thread may call any method.
 */
public final class StackCapture implements AutoCloseable {
    /** The longest snap length: longer than any frame. */
    static final int LONGEST = 1 << 18;

    private static final int LEAST = 64;

    private final Engine engine;
    private final Capture capture;

    /** Begins one, of the frames that a filter chooses, or of all. */
    static StackCapture begin(Engine engine, Path file, int snapLength, @Nullable FrameFilter filter)
            throws IOException {
        if (snapLength < LEAST || snapLength > LONGEST) {
            throw new IllegalArgumentException("a snap length of " + snapLength + " is not " + LEAST + " to "
                    + LONGEST);
        }
        engine.lock.lock();
        try {
            engine.requireOpen();
            engine.requireNoCapture();
            Capture c = new Capture(file, snapLength, filter);
            engine.beginCapture(c);
            return new StackCapture(engine, c);
        } finally {
            engine.lock.unlock();
        }
    }

    private StackCapture(Engine engine, Capture capture) {
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
