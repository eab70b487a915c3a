// SPDX-License-Identifier: Apache-2.0
package org.verbena.micrometer;

import java.util.Map;

import org.verbena.verbs.SamplePoint;

/**
 * Descriptions of the sample points of a process's sockets; a part of {@link MetricTable}. Those of one connection,
 * listener or rule are not metrics: there may be thousands.
 */
final class SocketMetrics {
    private SocketMetrics() {}

    static void describe(Map<Integer, String> d) {
        d.put(SamplePoint.SOCKETS_OPENED, "Connections that there were");
        d.put(SamplePoint.SOCKETS_AGREED, "Of these, those whose ends have agreed upon rings");
        d.put(SamplePoint.SOCKETS_TX_RING_BYTES, "Bytes that programs sent and rings carried");
        d.put(SamplePoint.SOCKETS_TX_TCP_BYTES, "Bytes that programs sent and TCP carried");
        d.put(SamplePoint.SOCKETS_RX_RING_BYTES, "Bytes received that rings carried");
        d.put(SamplePoint.SOCKETS_RX_TCP_BYTES, "Bytes received that TCP carried");
        d.put(SamplePoint.SOCKETS_DOORBELLS, "Times peers were woken");
        d.put(SamplePoint.SOCKETS_WAKE_UPS, "Times doorbells of peers were taken");
        d.put(SamplePoint.SOCKETS_STALLS, "Writes that found a ring full");
        d.put(SamplePoint.SOCKETS_GROWTHS, "Times a ring was replaced by a larger one");
        d.put(SamplePoint.SOCKETS_BY_TCP_REMOTE_PEER,
                "Connections that TCP carries to the end, for the other end is not on this host");
        d.put(SamplePoint.SOCKETS_BY_TCP_PLAIN_PEER,
                "Connections that TCP carries to the end, for the other end does not use Verbena");
        d.put(SamplePoint.SOCKETS_BY_TCP_OTHER_USER,
                "Connections that TCP carries to the end, for the other end belongs to another user");
        d.put(SamplePoint.SOCKETS_BY_TCP_OTHER_VERSION,
                "Connections that TCP carries to the end, for the other end has a Verbena of another version");
        d.put(SamplePoint.SOCKETS_BY_TCP_NAME_TAKEN,
                "Connections that TCP carries to the end, for another process holds the connection's name");
        d.put(SamplePoint.SOCKETS_BY_TCP_BAD_PEER,
                "Connections that TCP carries to the end, for the other end breaks the protocol");
        d.put(SamplePoint.SOCKETS_BY_TCP_CLOSED_EARLY,
                "Connections that TCP carries to the end, for they were closed before the ends had agreed");
        d.put(SamplePoint.SOCKETS_BY_TCP_UNAVAILABLE,
                "Connections that TCP carries to the end, for this process cannot have rings");
        d.put(SamplePoint.SOCKETS_BY_TCP_NO_MEMORY,
                "Connections that TCP carries to the end, for there is no memory for rings");
        d.put(SamplePoint.SOCKETS_BY_TCP_NO_DESCRIPTORS,
                "Connections that TCP carries to the end, for there are no descriptors left");
        d.put(SamplePoint.SOCKETS_BY_TCP_NO_SESSION,
                "Connections that TCP carries to the end, for there is no session with the other process");
        d.put(SamplePoint.SOCKETS_BY_TCP_RULE,
                "Connections that TCP carries to the end, for a rule or the program wants it so");
        d.put(SamplePoint.SOCKETS_BY_TCP_FOREIGN_SELECTOR,
                "Connections that TCP carries to the end, for they are registered with a selector that is not Verbena's");
        d.put(SamplePoint.SOCKETS_BY_TCP_OTHER_NAMESPACE,
                "Connections that TCP carries to the end, for the other end may be of another user or PID namespace");
        d.put(SamplePoint.SOCKETS_RINGS_REFUSED,
                "Larger rings that were not granted, for memory was short or the rings had their part of it");
    }
}
