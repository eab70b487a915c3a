// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream.memory;

import org.jspecify.annotations.Nullable;

/** The log of the transport. The output may fail, for instance without a descriptor; no connection is to suffer from that. */
public final class StreamLog {
    private static final System.Logger LOG = System.getLogger("org.verbena.sockets");

    private StreamLog() {}

    /** An error in Verbena itself. */
    public static void error(String where, Throwable why) {
        log(System.Logger.Level.ERROR, where, why);
    }

    public static void warn(String what) {
        log(System.Logger.Level.WARNING, what, null);
    }

    /** Failures of single connections, which are counted there. */
    public static void debug(String what) {
        log(System.Logger.Level.DEBUG, what, null);
    }

    private static void log(System.Logger.Level level, String what, @Nullable Throwable why) {
        try {
            LOG.log(level, what, why);
        } catch (RuntimeException | Error e) {
            if (level != System.Logger.Level.DEBUG) {
                System.err.println("verbena: " + what + " (the logger fails: " + e + ")");
            }
        }
    }
}
