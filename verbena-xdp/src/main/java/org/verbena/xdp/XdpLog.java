// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/** Messages of the provider that no caller is there for. */
final class XdpLog {
    private static final Logger LOG = System.getLogger("org.verbena.xdp");

    private XdpLog() {}

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
