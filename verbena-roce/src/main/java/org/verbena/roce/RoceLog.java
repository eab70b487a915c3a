// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/** The log of the context's own thread, which must survive a failure of the logger. */
final class RoceLog {
    private static final Logger LOG = System.getLogger("org.verbena.roce");

    private RoceLog() {}

    /** Logs, or does nothing if the logger fails. */
    static void log(Level level, String message, Throwable cause) {
        try {
            LOG.log(level, message, cause);
        } catch (Throwable t) {
            // there is no other way to report it
            assert t != null;
        }
    }
}
