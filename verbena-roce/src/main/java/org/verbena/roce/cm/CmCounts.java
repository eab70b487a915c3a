// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.cm;

/** The counts of an agent; written under its lock. */
public final class CmCounts {
    /** Valid messages received. */
    public long received;
    /** Datagrams that are no known message. */
    public long malformed;
    /** Messages that fit no connection, or not its state, or come from elsewhere. */
    public long unexpected;
    /** Messages sent. */
    public long sent;
    /** Retransmitted messages among them. */
    public long retransmitted;
    /** Connections whose peer did not reply in time. */
    public long timeouts;
    /** Rejections sent. */
    public long rejectsSent;
    /** Rejections received. */
    public long rejectsReceived;
    /** Requests that were rejected because too many wait, or by the service itself. */
    public long refused;

    CmCounts() {}
}
