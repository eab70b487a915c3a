// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.layout;

import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;

import org.verbena.linux.Membarrier;
import org.verbena.linux.spi.RawMemory;

/**
 * The word in which an initiator publishes what it accesses: {@code sequence:32 | key index + 1}, or {@link #RECEIVES} for
 * the peer's posted receives; 0 at rest.
 *
 * <p>The initiator stores the word, then reads the peer's link and key entry, then copies. The owner invalidates link or
 * key entry, passes a full barrier, then reads the word: either the initiator has seen the invalidation or the owner sees the
 * word. The initiator needs a fence for that, see {@link Membarrier}.
 */
public final class Hazard {
    /** In place of a key: the peer's posted receives, or its lane. */
    public static final int RECEIVES = 0x1000000;

    /** A key that no region has, which stands for {@link #RECEIVES}. */
    public static final int RECEIVES_KEY = 0xffffff00;

    /** A peer that has not left after this time is taken for stopped. */
    public static final long TIMEOUT_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private Hazard() {}

    /** Publishes that {@code what} is accessed from now on. */
    public static void enter(long address, int sequence, int what) {
        RawMemory.putLongOpaque(address, (long) sequence << 32 | what);
        VarHandle.fullFence();
    }

    /** At rest again; all earlier writes are visible to a thread that sees it. */
    public static void leave(long address) {
        RawMemory.putLongRelease(address, 0);
    }

    /** The object that a word names, 0 if none. */
    public static int what(long word) {
        return (int) word;
    }

    /** The value that names the region of a key. */
    public static int region(int key) {
        return (key >>> 8) + 1;
    }
}
