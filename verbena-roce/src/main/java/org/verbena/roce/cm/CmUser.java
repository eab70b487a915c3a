// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.cm;

/**
 * The user of a connection, which receives its events. Called under the agent's lock and from inside a call of the
 * agent's; throws nothing, does not block, and may call {@link CmConnection}.
 */
public interface CmUser {
    /**
     * The active side: the peer accepts. The user has to call {@link CmConnection#sendRtu} or
     * {@link CmConnection#reject}.
     */
    void replied(CmMessage.Rep reply);

    /** The passive side: the peer is ready. */
    void established();

    /** The peer rejects: see {@link RejectReason}. No calls follow. */
    void rejected(int reason, PrivateData data);

    /** The peer has not replied in time. No calls follow. */
    void timedOut();

    /** The peer ends the connection. No calls follow. */
    void disconnected();
}
