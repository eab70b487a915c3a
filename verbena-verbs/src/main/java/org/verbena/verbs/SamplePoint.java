// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import org.verbena.telemetry.SamplePoints;

/**
 * What can be counted of an object: an open set of numbers, later versions may add values. The first two are those of
 * {@code enum ibv_counter_description}. The name shows the type of object that a point belongs to, as does the number:
 * {@link #objectType(int)}. {@link Context#supportsSamplePoint} answers which of them a device has. Other modules have
 * points of their own.
 *
 * <p>Bytes are payload. A message is counted once, independently of its number of packets.
 */
public final class SamplePoint {
    // ---- flow

    /** Of a flow: packets that matched. */
    public static final int PACKETS = 0;
    /** Of a flow: their bytes. */
    public static final int BYTES = 1;

    // ---- queue pair: what its own requests did

    /** SEND requests carried out, of any form; datagrams that were handed over. */
    public static final int QP_TX_SENDS = 0x100;
    /** Their bytes. */
    public static final int QP_TX_SEND_BYTES = 0x101;
    /** WRITE requests carried out, of any form. */
    public static final int QP_TX_WRITES = 0x102;
    /** Their bytes. */
    public static final int QP_TX_WRITE_BYTES = 0x103;
    /** READ requests carried out. */
    public static final int QP_TX_READS = 0x104;
    /** Bytes that were read from the peer. */
    public static final int QP_TX_READ_BYTES = 0x105;
    /** Atomic requests carried out: compare-and-swap, fetch-and-add. */
    public static final int QP_TX_ATOMICS = 0x106;
    /** Other requests carried out: binds, invalidations, flushes. */
    public static final int QP_TX_OTHERS = 0x107;
    /**
     * Messages of an unreliable service that were given away without reaching anybody, as far as the sender can know.
     */
    public static final int QP_TX_LOST = 0x108;
    /** Requests that found no receive at the peer and had to wait: {@code rnr_nak_retry_err}. */
    public static final int QP_TX_RNR_WAITS = 0x109;
    /** Requests that found the peer not answering and had to wait: {@code local_ack_timeout_err}. */
    public static final int QP_TX_PEER_WAITS = 0x10a;
    /** Times the peer had to be woken. */
    public static final int QP_TX_WAKE_UPS = 0x10b;
    /** Requests that failed with {@link WcStatus#LOC_LEN_ERR}. */
    public static final int QP_REQ_LOCAL_LENGTH_ERRORS = 0x10c;
    /** Requests that failed with {@link WcStatus#LOC_PROT_ERR}. */
    public static final int QP_REQ_LOCAL_PROTECTION_ERRORS = 0x10d;
    /** Requests that failed with {@link WcStatus#REM_INV_REQ_ERR}: {@code req_remote_invalid_request}. */
    public static final int QP_REQ_REMOTE_INVALID_REQUESTS = 0x10e;
    /** Requests that failed with {@link WcStatus#REM_ACCESS_ERR}: {@code req_remote_access_errors}. */
    public static final int QP_REQ_REMOTE_ACCESS_ERRORS = 0x10f;
    /** Requests that failed with {@link WcStatus#REM_OP_ERR}. */
    public static final int QP_REQ_REMOTE_OPERATION_ERRORS = 0x110;
    /** Requests that failed with {@link WcStatus#RETRY_EXC_ERR}: {@code req_transport_retries_exceeded}. */
    public static final int QP_REQ_RETRIES_EXCEEDED = 0x111;
    /** Requests that failed with {@link WcStatus#RNR_RETRY_EXC_ERR}: {@code req_rnr_retries_exceeded}. */
    public static final int QP_REQ_RNR_RETRIES_EXCEEDED = 0x112;
    /** Requests flushed: {@code req_cqe_flush_error}. */
    public static final int QP_REQ_FLUSHED = 0x113;
    /** Requests that failed with another status. */
    public static final int QP_REQ_OTHER_ERRORS = 0x114;

    // ---- queue pair: congestion, of a wire whose routers mark packets

    /** Packets that a router had marked for congestion: {@code np_ecn_marked_roce_packets}. */
    public static final int QP_ECN_MARKED = 0x115;
    /** Congestion notifications sent to the peer: {@code np_cnp_sent}. */
    public static final int QP_CNP_SENT = 0x116;
    /** Congestion notifications received that made it send less: {@code rp_cnp_handled}. */
    public static final int QP_CNP_HANDLED = 0x117;

    // ---- queue pair: what peers did to it

    /** Receives completed, by SENDs, datagrams and WRITEs with immediate. */
    public static final int QP_RX_RECEIVES = 0x118;
    /** Bytes of SENDs and datagrams received. */
    public static final int QP_RX_RECEIVE_BYTES = 0x119;
    /** WRITEs of the peer: {@code rx_write_requests}. */
    public static final int QP_RX_WRITES = 0x11a;
    /** Their bytes. */
    public static final int QP_RX_WRITE_BYTES = 0x11b;
    /** READs of the peer: {@code rx_read_requests}. */
    public static final int QP_RX_READS = 0x11c;
    /** Bytes that the peer has read. */
    public static final int QP_RX_READ_BYTES = 0x11d;
    /** Atomics of the peer: {@code rx_atomic_requests}. */
    public static final int QP_RX_ATOMICS = 0x11e;
    /** Requests of the peer that found no receive: {@code out_of_buffer}. */
    public static final int QP_RX_OUT_OF_BUFFER = 0x11f;
    /** Datagrams that were dropped here: no receive, a wrong Q_Key. */
    public static final int QP_RX_LOST = 0x120;
    /** Receives that failed with {@link WcStatus#LOC_LEN_ERR}: {@code resp_local_length_error}. */
    public static final int QP_RESP_LOCAL_LENGTH_ERRORS = 0x121;
    /** Receives flushed: {@code resp_cqe_flush_error}. */
    public static final int QP_RESP_FLUSHED = 0x122;
    /** Receives that failed with another status. */
    public static final int QP_RESP_OTHER_ERRORS = 0x123;
    /** Requests of the peer refused for its rights: {@code resp_remote_access_errors}. */
    public static final int QP_RESP_REMOTE_ACCESS_ERRORS = 0x124;
    /** Requests of the peer refused for other reasons. */
    public static final int QP_RESP_REMOTE_INVALID_REQUESTS = 0x125;
    /** Datagrams with a wrong Q_Key: {@code qkey_viol_cntr}. They are {@link #QP_RX_LOST} too. */
    public static final int QP_BAD_QKEYS = 0x126;
    /** Congestion notifications received that changed nothing: {@code rp_cnp_ignored}. */
    public static final int QP_CNP_IGNORED = 0x127;

    // ---- queue pair: what a wire adds

    /** Packets sent. */
    public static final int QP_TX_PACKETS = 0x128;
    /** Packets received. */
    public static final int QP_RX_PACKETS = 0x129;
    /** Packets retransmitted. */
    public static final int QP_RETRANSMITS = 0x12a;
    /** Packets that came out of order: {@code out_of_sequence}. */
    public static final int QP_OUT_OF_SEQUENCE = 0x12b;
    /** NAKs received for packets out of order: {@code packet_seq_err}. */
    public static final int QP_PACKET_SEQUENCE_ERRORS = 0x12c;
    /** Answers that show the loss of an earlier one: {@code implied_nak_seq_err}. */
    public static final int QP_IMPLIED_NAKS = 0x12d;
    /** Requests received again: {@code duplicate_request}. */
    public static final int QP_DUPLICATE_REQUESTS = 0x12e;

    // ---- queue pair: sums

    /** Requests carried out: sends, writes, reads, atomics and others. */
    public static final int QP_TX_WORK_REQUESTS = 0x180;
    /** Bytes that left: sent, written, and read by the peer. */
    public static final int QP_TX_BYTES = 0x181;
    /** Bytes that came in: received, written by the peer, and read from it. */
    public static final int QP_RX_BYTES = 0x182;
    /**
     * Requests that failed, {@code req_cqe_error} less {@code req_cqe_flush_error}: flushed ones are {@link
     * #QP_REQ_FLUSHED}.
     */
    public static final int QP_REQ_ERRORS = 0x183;
    /**
     * Receives that failed, {@code resp_cqe_error} less {@code resp_cqe_flush_error}: flushed ones are {@link
     * #QP_RESP_FLUSHED}.
     */
    public static final int QP_RESP_ERRORS = 0x184;

    // ---- completion queue

    /** Completions polled. */
    public static final int CQ_COMPLETIONS = 0x200;
    /** Polls that found nothing. */
    public static final int CQ_EMPTY_POLLS = 0x201;
    /** Times it was armed. */
    public static final int CQ_NOTIFY_REQUESTS = 0x202;
    /** Events taken from its channel. */
    public static final int CQ_EVENTS = 0x203;
    /** Completions that found it full. */
    public static final int CQ_OVERRUNS = 0x204;

    // ---- shared receive queue

    /** Receives posted. */
    public static final int SRQ_POSTED = 0x300;
    /** Receives completed. */
    public static final int SRQ_RECEIVES = 0x301;
    /** {@link AsyncEventType#SRQ_LIMIT_REACHED} raised. */
    public static final int SRQ_LIMIT_EVENTS = 0x302;

    // ---- memory region

    /** WRITEs of peers. */
    public static final int MR_REMOTE_WRITES = 0x400;
    /** Their bytes. */
    public static final int MR_REMOTE_WRITE_BYTES = 0x401;
    /** READs of peers. */
    public static final int MR_REMOTE_READS = 0x402;
    /** Their bytes. */
    public static final int MR_REMOTE_READ_BYTES = 0x403;
    /** Atomics of peers. */
    public static final int MR_REMOTE_ATOMICS = 0x404;
    /** Requests of peers that were refused for rights or bounds. */
    public static final int MR_REMOTE_FAULTS = 0x405;
    /** Memory windows bound to it. */
    public static final int MR_BINDS = 0x406;
    /** Memory windows of it that were invalidated, by either end. */
    public static final int MR_INVALIDATIONS = 0x407;

    // ---- port: the sums over its queue pairs, of today and before; the number is that of the queue pair's point +
    // 0x400

    /** Added to the number of a queue pair's point: the same of a port. */
    public static final int PORT = 0x400;

    // ---- device

    /** Peers that a connection was set up with, however many queue pairs have used it. */
    public static final int DEVICE_PEERS = 0x600;
    /** Peers that ended, or were given up, with a connection that neither end had ended before. */
    public static final int DEVICE_PEERS_LOST = 0x601;
    /** Connections of queue pairs made by the connection manager. */
    public static final int DEVICE_CONNECTIONS = 0x602;
    /** Connection requests refused, by either end. */
    public static final int DEVICE_REJECTS = 0x603;
    /** Asynchronous events raised. */
    public static final int DEVICE_ASYNC_EVENTS = 0x604;
    /** Queue pairs that went to state {@link QueuePairState#ERR} by themselves. */
    public static final int DEVICE_QP_ERRORS = 0x605;
    /** Times the device's own thread was woken. */
    public static final int DEVICE_WAKE_UPS = 0x606;
    /** Bytes of packets sent, headers and checksums included: {@code sent_bytes}. */
    public static final int DEVICE_TX_WIRE_BYTES = 0x607;
    /** Bytes of whole packets received, headers and checksums included: {@code rcvd_bytes}. */
    public static final int DEVICE_RX_WIRE_BYTES = 0x608;
    /** Packets that could not be sent: {@code send_err}. */
    public static final int DEVICE_TX_ERRORS = 0x609;
    /** Packets received whose checksum was wrong. */
    public static final int DEVICE_BAD_ICRC = 0x60a;
    /** Packets received that are shorter than their headers say, or of another version of the transport. */
    public static final int DEVICE_MALFORMED = 0x60b;
    /** Packets received for a partition that the port is not in: {@code bad_pkey_cntr}. */
    public static final int DEVICE_BAD_PKEYS = 0x60c;
    /** Packets received for a queue pair that there is not, that does not receive, or that is of another type. */
    public static final int DEVICE_BAD_QUEUE_PAIRS = 0x60d;
    /** Packets received that do not come from the address that their queue pair is connected to. */
    public static final int DEVICE_BAD_ADDRESSES = 0x60e;
    /**
     * Packets received that nothing in the state of their connection expects: unexpected responses, reserved codes,
     * requests behind a gap for which a NAK was sent already, retransmissions of READs and atomics that are no longer
     * kept.
     */
    public static final int DEVICE_BAD_SEQUENCES = 0x60f;
    /**
     * Datagrams to the connection manager that were not read: a wrong Q_Key or length, more than it takes at a time.
     */
    public static final int DEVICE_CM_DROPPED = 0x610;
    /** Datagrams to the connection manager that are none of its messages. */
    public static final int DEVICE_CM_MALFORMED = 0x611;
    /** Messages to the connection manager that fit no connection, or not its state, or come from elsewhere. */
    public static final int DEVICE_CM_UNEXPECTED = 0x612;
    /** Requests to the connection manager that were refused: too many wait, or the listener does not take them. */
    public static final int DEVICE_CM_REFUSED = 0x613;

    // ---- work queue

    /** Receives of a work queue completed; its {@code PORT_RX_RECEIVES}, and so on for the others, has them, too. */
    public static final int WQ_RX_RECEIVES = 0xe18;
    /** Their bytes. */
    public static final int WQ_RX_RECEIVE_BYTES = 0xe19;
    /** Receives flushed, because the work queue was in ERR. */
    public static final int WQ_RESP_FLUSHED = 0xe22;
    /** Packets received. */
    public static final int WQ_RX_PACKETS = 0xe29;

    /** Numbers with this bit are the provider's own. Bits 8 to 15 are the object type, bits 0 to 7 the number. */
    public static final int PROVIDER = SamplePoints.PROVIDER;

    private SamplePoint() {}

    /** The kind of object that has the point, see {@link ObjectType}. */
    public static int objectType(int point) {
        return SamplePoints.objectType(point);
    }

    /**
     * A provider's own point of an object type.
     *
     * @param number 0 to 15 for queue pairs and ports, 0 to 7 for others; there is none for what belongs to no provider
     * @throws IndexOutOfBoundsException for another number
     */
    public static int ofProvider(int objectType, int number) {
        return SamplePoints.ofProvider(objectType, number);
    }

    /**
     * The value's name, or its number if this version does not know it. Points of other modules are known where those
     * are there.
     */
    public static String toString(int point) {
        return SamplePoints.toString(point);
    }
}
