// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.cm;

/** What an agent has counted; written under its lock. */
public final class CmCounts {
    /** Messages received that were understood. */
    public long received;
    /** Datagrams that are none of the messages known here. */
    public long malformed;
    /** Messages that fit no connection, or not its state, or come from elsewhere. */
    public long unexpected;
    /** Messages sent. */
    public long sent;
    /** Those of them that were sent before. */
    public long retransmitted;
    /** Connections that the peer did not answer for in time. */
    public long timeouts;
    /** Rejections sent. */
    public long rejectsSent;
    /** Rejections received. */
    public long rejectsReceived;
    /** Requests that were refused because too many wait, or by the service itself. */
    public long refused;

    CmCounts() {}
}
