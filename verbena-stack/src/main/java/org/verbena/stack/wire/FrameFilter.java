// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.wire;

import java.lang.foreign.MemorySegment;

/** Chooses among frames by their headers. */
public interface FrameFilter {
    /** Bytes of a frame that are looked at: all headers up to the ports. */
    int LOOKED_AT = 128;

    /** Whether a frame is one of those, of which {@code length} bytes are there. */
    boolean takes(MemorySegment m, long at, int length);
}
