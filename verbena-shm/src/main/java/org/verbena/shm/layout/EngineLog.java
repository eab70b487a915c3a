// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.layout;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/**
 * The log of the engine's thread. Logging itself can fail, for instance when the process has no descriptor left and the
 * logger loads its first class; the engine must survive that too.
 */
public final class EngineLog {
    private static final Logger LOG = System.getLogger("org.verbena.shm");
    private static final long INTERVAL_NANOS = 1_000_000_000;

    private static volatile long last = System.nanoTime() - INTERVAL_NANOS;

    private EngineLog() {}

    /** Logs, or does nothing if that cannot be done. */
    public static void log(Level level, String message, Throwable cause) {
        try {
            LOG.log(level, message, cause);
        } catch (Throwable t) {
            // there is no other place to report it
            assert t != null;
        }
    }

    /** As {@link #log}, at most once a second in all. */
    public static void logSometimes(Level level, String message, Throwable cause) {
        long now = System.nanoTime();
        if (now - last >= INTERVAL_NANOS) {
            last = now;
            log(level, message, cause);
        }
    }
}
