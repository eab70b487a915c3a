// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.control;

import java.lang.System.Logger.Level;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Eventfd;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.shm.layout.EngineLog;

/**
 * A descriptor that a context keeps for when its process has none left: connections and memory of other processes could
 * otherwise neither be accepted nor rejected. For the engine's thread.
 */
final class SpareDescriptor {
    private @Nullable Fd kept;

    /** Begins to keep one. */
    void keep() throws LinuxException {
        kept = Eventfd.create();
    }

    /** Gives it back to the process, for the next descriptor that is needed; whether there was one. */
    boolean lend() {
        Fd spare = kept;
        if (spare == null) {
            return false;
        }
        kept = null;
        spare.close();
        return true;
    }

    /** Keeps one again, if there is one. */
    void takeBack() {
        if (kept == null) {
            try {
                keep();
            } catch (LinuxException e) {
                EngineLog.log(Level.DEBUG, "no spare descriptor", e);
            }
        }
    }
}
