// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.control;

import org.verbena.shm.layout.ControlMessage;
import org.verbena.shm.layout.ProtocolException;

/** A part of a session, beside memory and connected queue pairs. */
public interface SessionPart {
    /** Handles a message; false if it is another part's. Engine's thread only. */
    boolean receive(ControlMessage.Reader m) throws ProtocolException;

    /** True if the peer needs the memory of that protection domain; any thread. */
    default boolean uses(int pd) {
        return false;
    }

    /** True if the peer's adapter or lanes may be read even when it has ended; any thread. */
    default boolean readsPeer() {
        return false;
    }

    /** The session has ended; once. */
    void end();
}
