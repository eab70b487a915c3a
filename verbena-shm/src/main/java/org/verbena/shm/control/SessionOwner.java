// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.control;

import java.util.List;

import org.verbena.shm.layout.ControlMessage;
import org.verbena.shm.layout.ProtocolException;

/** The context, as its sessions need it; called on the engine's thread. */
public interface SessionOwner {
    /** The parts of a new session beside its memory. */
    List<SessionPart> parts(Session s);

    /** A session is established. */
    void sessionStarted(Session s);

    /** Handles a message that is none of the session's; false if it is unknown. */
    boolean receive(Session s, ControlMessage.Reader m) throws ProtocolException;

    /** The control socket reports that a peer is gone, perhaps after it announced its departure. */
    void peerGone(Session s, String reason);

    /** A peer is gone, or is given up. */
    void sessionEnded(Session s, String reason);
}
