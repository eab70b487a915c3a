// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.control;

import org.verbena.shm.layout.ControlMessage;
import org.verbena.shm.layout.ProtocolException;

/** What two contexts have with each other over their session, beside memory and connected queue pairs. */
public interface SessionPart {
    /** Handles a message; answers false if it is none of its own. Engine's thread only. */
    boolean receive(ControlMessage.Reader m) throws ProtocolException;

    /** True if the peer needs the memory of that protection domain; any thread. */
    default boolean uses(int pd) {
        return false;
    }

    /** True if somebody may look at the peer's adapter or lanes even when it has ended; any thread. */
    default boolean readsPeer() {
        return false;
    }

    /** The session has ended; once. */
    void end();
}
