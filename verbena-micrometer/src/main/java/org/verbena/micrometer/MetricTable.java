// SPDX-License-Identifier: Apache-2.0
package org.verbena.micrometer;

import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

import io.micrometer.core.instrument.binder.BaseUnits;
import org.jspecify.annotations.Nullable;

import org.verbena.telemetry.ObjectKinds;
import org.verbena.verbs.ObjectType;
import org.verbena.verbs.SamplePoint;

/**
 * What a sample point is called as a metric, and what those of verbs objects say of themselves; others are described by the
 * module that counts them.
 */
final class MetricTable {
    /** The prefix of every metric name. */
    static final String PREFIX = "verbena.";
    private static final String BYTES = "BYTES";
    private static final Map<Integer, String> DESCRIPTIONS = descriptions();

    private MetricTable() {}

    /** The name of the sample point, in lower case and with dots: {@code verbena.port.tx.bytes}. */
    static String name(int point) {
        int type = SamplePoint.objectType(point);
        String name = SamplePoint.toString(point);
        if (name.startsWith("0x")) { // of a provider, or of a later version
            String whose = (point & SamplePoint.PROVIDER) == 0 ? "_POINT_" : "_PROVIDER_";
            name = ObjectType.toString(type) + whose + (point & 0xff);
        }
        return PREFIX + name.toLowerCase(Locale.ROOT).replace('_', '.');
    }

    /** Bytes; null for a number of events. */
    static @Nullable String unit(int point) {
        return SamplePoint.toString(point).endsWith(BYTES) ? BaseUnits.BYTES : null;
    }

    /** The description of a sample point. */
    static String description(int point) {
        boolean port = SamplePoint.objectType(point) == ObjectType.PORT && (point & SamplePoint.PROVIDER) == 0;
        String text = DESCRIPTIONS.get(port ? point - SamplePoint.PORT : point);
        if (text == null) { // of a module that brings its own
            text = ObjectKinds.of(SamplePoint.objectType(point)).describePoint(point);
        }
        return text == null ? "Sample point 0x" + Integer.toHexString(point) : text;
    }

    /** True for a sample point that has a description of its own. */
    static boolean knows(int point) {
        return DESCRIPTIONS.containsKey(point)
                || ObjectKinds.of(SamplePoint.objectType(point)).describePoint(point) != null;
    }

    private static Map<Integer, String> descriptions() {
        Map<Integer, String> d = new TreeMap<>();
        sent(d);
        failed(d);
        received(d);
        wire(d);
        d.put(SamplePoint.QP_TX_WORK_REQUESTS, "Requests executed: sends, writes, reads, atomics and others");
        d.put(SamplePoint.QP_TX_BYTES, "Outgoing bytes: sent, written, and read by the peer");
        d.put(SamplePoint.QP_RX_BYTES, "Incoming bytes: received, written by the peer, and read from it");
        d.put(SamplePoint.QP_REQ_ERRORS, "Requests that failed, without those that were flushed");
        d.put(SamplePoint.QP_RESP_ERRORS, "Receives that failed, without those that were flushed");
        queues(d);
        d.put(SamplePoint.MR_REMOTE_WRITES, "WRITEs of peers");
        d.put(SamplePoint.MR_REMOTE_WRITE_BYTES, "Bytes that peers have written");
        d.put(SamplePoint.MR_REMOTE_READS, "READs of peers");
        d.put(SamplePoint.MR_REMOTE_READ_BYTES, "Bytes that peers have read");
        d.put(SamplePoint.MR_REMOTE_ATOMICS, "Atomics of peers");
        d.put(SamplePoint.MR_REMOTE_FAULTS, "Requests of peers that were refused for rights or bounds");
        d.put(SamplePoint.MR_BINDS, "Memory windows bound");
        d.put(SamplePoint.MR_INVALIDATIONS, "Memory windows invalidated");
        device(d);
        return d;
    }

    private static void sent(Map<Integer, String> d) {
        d.put(SamplePoint.QP_TX_SENDS, "SEND requests executed, of any form, and datagrams handed over");
        d.put(SamplePoint.QP_TX_SEND_BYTES, "Bytes of SENDs and datagrams");
        d.put(SamplePoint.QP_TX_WRITES, "WRITE requests executed, of any form");
        d.put(SamplePoint.QP_TX_WRITE_BYTES, "Bytes of WRITEs");
        d.put(SamplePoint.QP_TX_READS, "READ requests executed");
        d.put(SamplePoint.QP_TX_READ_BYTES, "Bytes read from the peer");
        d.put(SamplePoint.QP_TX_ATOMICS, "Atomic requests executed");
        d.put(SamplePoint.QP_TX_OTHERS, "Other requests executed: binds, invalidations, flushes");
        d.put(SamplePoint.QP_TX_LOST,
                "Messages of an unreliable service that were lost, as far as the sender knows");
        d.put(SamplePoint.QP_TX_RNR_WAITS, "Requests that found no receive at the peer and had to wait");
        d.put(SamplePoint.QP_TX_PEER_WAITS, "Requests that waited because the peer did not respond");
        d.put(SamplePoint.QP_TX_WAKE_UPS, "Times the peer had to be woken");
    }

    private static void failed(Map<Integer, String> d) {
        d.put(SamplePoint.QP_REQ_LOCAL_LENGTH_ERRORS, "Requests that failed with LOC_LEN_ERR");
        d.put(SamplePoint.QP_REQ_LOCAL_PROTECTION_ERRORS, "Requests that failed with LOC_PROT_ERR");
        d.put(SamplePoint.QP_REQ_REMOTE_INVALID_REQUESTS, "Requests that failed with REM_INV_REQ_ERR");
        d.put(SamplePoint.QP_REQ_REMOTE_ACCESS_ERRORS, "Requests that failed with REM_ACCESS_ERR");
        d.put(SamplePoint.QP_REQ_REMOTE_OPERATION_ERRORS, "Requests that failed with REM_OP_ERR");
        d.put(SamplePoint.QP_REQ_RETRIES_EXCEEDED, "Requests that failed with RETRY_EXC_ERR");
        d.put(SamplePoint.QP_REQ_RNR_RETRIES_EXCEEDED, "Requests that failed with RNR_RETRY_EXC_ERR");
        d.put(SamplePoint.QP_REQ_FLUSHED, "Requests flushed");
        d.put(SamplePoint.QP_REQ_OTHER_ERRORS, "Requests that failed with another status");
    }

    private static void received(Map<Integer, String> d) {
        d.put(SamplePoint.QP_RX_RECEIVES, "Receives completed, by SENDs, datagrams and WRITEs with immediate");
        d.put(SamplePoint.QP_RX_RECEIVE_BYTES, "Bytes of SENDs and datagrams received");
        d.put(SamplePoint.QP_RX_WRITES, "WRITEs of the peer");
        d.put(SamplePoint.QP_RX_WRITE_BYTES, "Bytes that the peer has written");
        d.put(SamplePoint.QP_RX_READS, "READs of the peer");
        d.put(SamplePoint.QP_RX_READ_BYTES, "Bytes that the peer has read");
        d.put(SamplePoint.QP_RX_ATOMICS, "Atomics of the peer");
        d.put(SamplePoint.QP_RX_OUT_OF_BUFFER, "Requests of the peer that found no receive");
        d.put(SamplePoint.QP_RX_LOST, "Datagrams dropped here: no receive, a wrong Q_Key");
        d.put(SamplePoint.QP_RESP_LOCAL_LENGTH_ERRORS, "Receives that failed with LOC_LEN_ERR");
        d.put(SamplePoint.QP_RESP_FLUSHED, "Receives flushed");
        d.put(SamplePoint.QP_RESP_OTHER_ERRORS, "Receives that failed with another status");
        d.put(SamplePoint.QP_RESP_REMOTE_ACCESS_ERRORS, "Requests of the peer refused for its rights");
        d.put(SamplePoint.QP_RESP_REMOTE_INVALID_REQUESTS, "Requests of the peer refused for other reasons");
    }

    private static void wire(Map<Integer, String> d) {
        d.put(SamplePoint.QP_TX_PACKETS, "Packets sent");
        d.put(SamplePoint.QP_RX_PACKETS, "Packets received");
        d.put(SamplePoint.QP_RETRANSMITS, "Packets retransmitted");
        d.put(SamplePoint.QP_OUT_OF_SEQUENCE, "Packets received out of order");
        d.put(SamplePoint.QP_PACKET_SEQUENCE_ERRORS, "NAKs received for packets out of order");
        d.put(SamplePoint.QP_IMPLIED_NAKS, "Responses that imply the loss of an earlier one");
        d.put(SamplePoint.QP_DUPLICATE_REQUESTS, "Duplicate requests received");
        d.put(SamplePoint.QP_BAD_QKEYS, "Datagrams with a wrong Q_Key");
        d.put(SamplePoint.QP_ECN_MARKED, "Packets that a router had marked for congestion");
        d.put(SamplePoint.QP_CNP_SENT, "Congestion notifications sent");
        d.put(SamplePoint.QP_CNP_HANDLED, "Congestion notifications received that reduced the window");
        d.put(SamplePoint.QP_CNP_IGNORED, "Congestion notifications received that changed nothing");
    }

    private static void queues(Map<Integer, String> d) {
        d.put(SamplePoint.CQ_COMPLETIONS, "Completions polled");
        d.put(SamplePoint.CQ_EMPTY_POLLS, "Polls that found nothing");
        d.put(SamplePoint.CQ_NOTIFY_REQUESTS, "Times the completion queue was armed");
        d.put(SamplePoint.CQ_EVENTS, "Events taken from the channel of the completion queue");
        d.put(SamplePoint.CQ_OVERRUNS, "Completions that found the completion queue full");
        d.put(SamplePoint.SRQ_POSTED, "Receives posted to the shared receive queue");
        d.put(SamplePoint.SRQ_RECEIVES, "Receives of the shared receive queue completed");
        d.put(SamplePoint.SRQ_LIMIT_EVENTS, "Times that few receives were left");
        d.put(SamplePoint.WQ_RX_RECEIVES, "Receives of the work queue completed");
        d.put(SamplePoint.WQ_RX_RECEIVE_BYTES, "Bytes of receives of the work queue");
        d.put(SamplePoint.WQ_RESP_FLUSHED, "Receives flushed, because the work queue was in state ERR");
        d.put(SamplePoint.WQ_RX_PACKETS, "Packets received by the work queue");
    }

    private static void device(Map<Integer, String> d) {
        d.put(SamplePoint.DEVICE_PEERS, "Peers that a connection was set up with");
        d.put(SamplePoint.DEVICE_PEERS_LOST,
                "Peers that died, or timed out, with a connection that was not closed before");
        d.put(SamplePoint.DEVICE_CONNECTIONS, "Connections of queue pairs made by the connection manager");
        d.put(SamplePoint.DEVICE_REJECTS, "Connection requests refused, by either end");
        d.put(SamplePoint.DEVICE_ASYNC_EVENTS, "Asynchronous events raised");
        d.put(SamplePoint.DEVICE_QP_ERRORS, "Queue pairs that went to state ERR by themselves");
        d.put(SamplePoint.DEVICE_WAKE_UPS, "Times the device's own thread was woken");
        d.put(SamplePoint.DEVICE_TX_WIRE_BYTES, "Bytes of packets sent, headers and checksums included");
        d.put(SamplePoint.DEVICE_RX_WIRE_BYTES, "Bytes of packets received, headers and checksums included");
        d.put(SamplePoint.DEVICE_TX_ERRORS, "Packets that could not be sent");
        d.put(SamplePoint.DEVICE_BAD_ICRC, "Packets received with a wrong checksum");
        d.put(SamplePoint.DEVICE_MALFORMED, "Packets received that were truncated, or of another version");
        d.put(SamplePoint.DEVICE_BAD_PKEYS, "Packets received for a partition that the port is not in");
        d.put(SamplePoint.DEVICE_BAD_QUEUE_PAIRS, "Packets received for no queue pair that accepts them");
        d.put(SamplePoint.DEVICE_BAD_ADDRESSES, "Packets received from another address than the peer's");
        d.put(SamplePoint.DEVICE_BAD_SEQUENCES, "Packets received that their connection does not expect");
        d.put(SamplePoint.DEVICE_CM_DROPPED, "Datagrams to the connection manager that were dropped unread");
        d.put(SamplePoint.DEVICE_CM_MALFORMED, "Datagrams to the connection manager that are none of its messages");
        d.put(SamplePoint.DEVICE_CM_UNEXPECTED, "Messages to the connection manager that fit no connection");
        d.put(SamplePoint.DEVICE_CM_REFUSED, "Connection requests rejected: too many wait, or there is no listener");
    }
}
