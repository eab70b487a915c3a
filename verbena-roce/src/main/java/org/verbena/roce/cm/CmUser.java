// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.cm;

/**
 * Who uses a connection, and is told of what happens to it. Called under the agent's lock and from inside a call of the
 * agent's; throws nothing, waits for nothing, and may call {@link CmConnection}.
 */
public interface CmUser {
    /** The active side: the peer accepts. {@link CmConnection#sendRtu} or {@link CmConnection#reject} is due. */
    void replied(CmMessage.Rep reply);

    /** The passive side: the peer is ready. */
    void established();

    /** The peer rejects: see {@link RejectReason}. Nothing is told afterwards. */
    void rejected(int reason, PrivateData data);

    /** The peer has not answered in time. Nothing is told afterwards. */
    void timedOut();

    /** The peer ends the connection. Nothing is told afterwards. */
    void disconnected();
}
