// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.wire;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.PcapFile;
import org.verbena.stack.model.CaptureStatistics;
import org.verbena.verbs.spi.WallClock;

/** Writes the frames of a wire to a file, in the order in which the stack sees them. For one thread at a time; does not throw for the file's sake. */
public final class Capture {
    private static final long NANOS_PER_SECOND = 1_000_000_000L;

    private final PcapFile file;
    private final int snapLength;
    private final MemorySegment bytes;
    private final @Nullable FrameFilter filter;
    private final WallClock clock = new WallClock();
    private long seen;
    private String problem = "";
    private boolean closed;

    /**
     * Begins a file.
     *
     * @param snapLength bytes of a frame that are written at most
     * @param filter chooses frames; null for all
     * @throws IOException if it cannot be written
     */
    public Capture(Path path, int snapLength, @Nullable FrameFilter filter) throws IOException {
        this.snapLength = snapLength;
        file = PcapFile.create(path, snapLength);
        this.filter = filter;
        bytes = Arena.ofAuto().allocate(Math.max(snapLength, FrameFilter.LOOKED_AT));
    }

    void received(ReceivedFrame f) {
        FrameFilter some = filter;
        if (some != null) {
            int looked = Math.min(f.bytes(), FrameFilter.LOOKED_AT);
            f.copyTo(0, bytes, 0, looked);
            if (!some.takes(bytes, 0, looked)) {
                return;
            }
        }
        if (isWritten()) {
            int here = Math.min(f.bytes(), snapLength);
            f.copyTo(0, bytes, 0, here);
            write(here, f.bytes());
        }
    }

    void sent(SendFrame f, int length) {
        FrameFilter some = filter;
        if (some != null && !some.takes(f.memory(), f.at() - f.before(), length)) {
            return;
        }
        if (isWritten()) {
            int here = Math.min(length, snapLength);
            MemorySegment.copy(f.memory(), f.at() - f.before(), bytes, 0, here);
            write(here, length);
        }
    }

    /** Whether the next frame goes to the file. */
    private boolean isWritten() {
        if (closed) {
            return false;
        }
        seen++;
        return problem.isEmpty();
    }

    private void write(int here, int length) {
        long now = clock.nanosAt(System.nanoTime());
        try {
            file.packet(now / NANOS_PER_SECOND, (int) (now % NANOS_PER_SECOND), 0, length, bytes.asSlice(0, here));
        } catch (IOException e) {
            problem = String.valueOf(e.getMessage());
        }
    }

    /** How much it has come to. */
    public CaptureStatistics statistics() {
        return new CaptureStatistics(file.packets(), seen - file.packets(), problem);
    }

    /** Writes what is left; once. */
    public void close() {
        if (!closed) {
            closed = true;
            try {
                file.close();
            } catch (IOException e) {
                problem = problem.isEmpty() ? String.valueOf(e.getMessage()) : problem;
            }
        }
    }
}
