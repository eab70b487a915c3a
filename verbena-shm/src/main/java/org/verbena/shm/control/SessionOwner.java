// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.control;

import java.util.List;

import org.verbena.shm.layout.ControlMessage;
import org.verbena.shm.layout.ProtocolException;

/** The context, as its sessions need it; called on the engine's thread. */
public interface SessionOwner {
    /** What a new session consists of beside its memory. */
    List<SessionPart> parts(Session s);

    /** A session stands. */
    void begun(Session s);

    /** Handles a message that is none of the session's; answers false if it is unknown. */
    boolean receive(Session s, ControlMessage.Reader m) throws ProtocolException;

    /** The control socket tells that a peer is gone, be it that it said so before. */
    void peerGone(Session s, String reason);

    /** A peer is gone, or is given up. */
    void sessionEnded(Session s, String reason);
}
