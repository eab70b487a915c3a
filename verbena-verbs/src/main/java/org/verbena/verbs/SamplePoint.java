// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.lang.reflect.Field;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * What can be counted of an object: an open set of numbers, later versions may add values. The first two are those of
 * {@code enum ibv_counter_description}. The name says what kind of object a point belongs to, as does the number:
 * {@link #objectType(int)}. Which of them a device has, {@link Context#supportsSamplePoint} says.
 *
 * <p>Bytes are payload. A message is counted once, whatever number of packets it takes.
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
    /** Messages of an unreliable service that were given away without reaching anybody, as far as the sender can know. */
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
    /** Packets sent again. */
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
    /** Requests that failed, {@code req_cqe_error} less {@code req_cqe_flush_error}: flushed ones are {@link #QP_REQ_FLUSHED}. */
    public static final int QP_REQ_ERRORS = 0x183;
    /** Receives that failed, {@code resp_cqe_error} less {@code resp_cqe_flush_error}: flushed ones are {@link #QP_RESP_FLUSHED}. */
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

    // ---- port: the sums over its queue pairs, of today and before; the number is that of the queue pair's point + 0x400

    /** Added to the number of a queue pair's point: the same of a port. */
    public static final int PORT = 0x400;

    // ---- device

    /** Peers that a connection was set up with, however many queue pairs have used it. */
    public static final int DEVICE_PEERS = 0x600;
    /** Peers that ended, or were given up, with a connection that nobody had ended before. */
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
     * Packets received that nothing in the state of their connection expects: answers that nobody waits for, reserved codes,
     * requests behind a gap that was told of already, repetitions of READs and atomics that have been forgotten.
     */
    public static final int DEVICE_BAD_SEQUENCES = 0x60f;
    /** Datagrams to the connection manager that were not read: a wrong Q_Key or length, more than it takes at a time. */
    public static final int DEVICE_CM_DROPPED = 0x610;
    /** Datagrams to the connection manager that are none of its messages. */
    public static final int DEVICE_CM_MALFORMED = 0x611;
    /** Messages to the connection manager that fit no connection, or not its state, or come from elsewhere. */
    public static final int DEVICE_CM_UNEXPECTED = 0x612;
    /** Requests to the connection manager that were refused: too many wait, or the listener does not take them. */
    public static final int DEVICE_CM_REFUSED = 0x613;

    // ---- sockets: all of a process, those that have ended too

    /** Connections that there were. */
    public static final int SOCKETS_OPENED = 0x800;
    /** Of these, those whose ends have agreed upon rings. */
    public static final int SOCKETS_AGREED = 0x801;
    /** Bytes that programs sent and rings carried. */
    public static final int SOCKETS_TX_RING_BYTES = 0x802;
    /** Bytes that programs sent and TCP carried. */
    public static final int SOCKETS_TX_TCP_BYTES = 0x803;
    /** Bytes received that rings carried. */
    public static final int SOCKETS_RX_RING_BYTES = 0x804;
    /** Bytes received that TCP carried. */
    public static final int SOCKETS_RX_TCP_BYTES = 0x805;
    /** Times peers were woken. */
    public static final int SOCKETS_DOORBELLS = 0x806;
    /** Times doorbells of peers were taken. */
    public static final int SOCKETS_WAKE_UPS = 0x807;
    /** Writes that found a ring full. */
    public static final int SOCKETS_STALLS = 0x808;
    /** Times a ring was replaced by a larger one. */
    public static final int SOCKETS_GROWTHS = 0x809;
    /** Connections that TCP carries to the end, for the other end is not on this host. */
    public static final int SOCKETS_BY_TCP_REMOTE_PEER = 0x80a;
    /** Connections that TCP carries to the end, for the other end does not use Verbena. */
    public static final int SOCKETS_BY_TCP_PLAIN_PEER = 0x80b;
    /** Connections that TCP carries to the end, for the other end belongs to another user. */
    public static final int SOCKETS_BY_TCP_OTHER_USER = 0x80c;
    /** Connections that TCP carries to the end, for the other end has a Verbena of another version. */
    public static final int SOCKETS_BY_TCP_OTHER_VERSION = 0x80d;
    /** Connections that TCP carries to the end, for another process holds the connection's name. */
    public static final int SOCKETS_BY_TCP_NAME_TAKEN = 0x80e;
    /** Connections that TCP carries to the end, for the other end breaks the protocol. */
    public static final int SOCKETS_BY_TCP_BAD_PEER = 0x80f;
    /** Connections that TCP carries to the end, for they were closed before the ends had agreed. */
    public static final int SOCKETS_BY_TCP_CLOSED_EARLY = 0x810;
    /** Connections that TCP carries to the end, for this process cannot have rings. */
    public static final int SOCKETS_BY_TCP_UNAVAILABLE = 0x811;
    /** Connections that TCP carries to the end, for there is no memory for rings. */
    public static final int SOCKETS_BY_TCP_NO_MEMORY = 0x812;
    /** Connections that TCP carries to the end, for there are no descriptors left. */
    public static final int SOCKETS_BY_TCP_NO_DESCRIPTORS = 0x813;
    /** Connections that TCP carries to the end, for there is no session with the other process. */
    public static final int SOCKETS_BY_TCP_NO_SESSION = 0x814;
    /** Connections that TCP carries to the end, for a rule or the program wants it so. */
    public static final int SOCKETS_BY_TCP_RULE = 0x815;
    /** Connections that TCP carries to the end, for they are registered with a selector that is not Verbena's. */
    public static final int SOCKETS_BY_TCP_FOREIGN_SELECTOR = 0x816;
    /** Connections that TCP carries to the end, for the other end may be of another user or PID namespace. */
    public static final int SOCKETS_BY_TCP_OTHER_NAMESPACE = 0x817;
    /** Larger rings that were asked for and not granted, for memory was short or the rings had their part of it. */
    public static final int SOCKETS_RINGS_REFUSED = 0x81f;

    // ---- connection

    /** Bytes that the program sent and a ring carried. */
    public static final int CONNECTION_TX_RING_BYTES = 0x900;
    /** Bytes that the program sent and TCP carried. */
    public static final int CONNECTION_TX_TCP_BYTES = 0x901;
    /** Bytes received that a ring carried. */
    public static final int CONNECTION_RX_RING_BYTES = 0x902;
    /** Bytes received that TCP carried. */
    public static final int CONNECTION_RX_TCP_BYTES = 0x903;
    /** Times the peer was woken. */
    public static final int CONNECTION_DOORBELLS = 0x904;
    /** Times a doorbell of the peer's was taken. */
    public static final int CONNECTION_WAKE_UPS = 0x905;
    /** Writes that found the ring full. */
    public static final int CONNECTION_STALLS = 0x906;
    /** Times a ring was replaced by a larger one, in either direction. */
    public static final int CONNECTION_GROWTHS = 0x907;

    // ---- listener, rules

    /** Connections that were taken. */
    public static final int LISTENER_ACCEPTED = 0xa00;
    /** Sockets that the rule has decided. */
    public static final int RULE_SOCKETS = 0xb00;
    /** Sockets that the rules with this counter have decided. */
    public static final int RULE_COUNTER_SOCKETS = 0xc00;

    // ---- remote memory of a socket

    /** Copies that this end has started, both ways. */
    public static final int REMOTE_MEMORY_COPIES = 0xd00;
    /** Bytes of copies to the other end's memory. */
    public static final int REMOTE_MEMORY_WRITE_BYTES = 0xd01;
    /** Bytes of copies from the other end's memory. */
    public static final int REMOTE_MEMORY_READ_BYTES = 0xd02;
    /** Copies that have failed after they were started. */
    public static final int REMOTE_MEMORY_FAILED = 0xd03;
    /** Copies that the other end was told of. */
    public static final int REMOTE_MEMORY_NOTICES = 0xd04;
    /** Events that the program has taken: of copies of the other end, and of its regions. */
    public static final int REMOTE_MEMORY_EVENTS = 0xd05;
    /** Copies that were refused because the other end's program had not taken its events. */
    public static final int REMOTE_MEMORY_STALLS = 0xd06;
    /** Events that came for memory that had been taken back, and were dropped. */
    public static final int REMOTE_MEMORY_LATE_EVENTS = 0xd07;

    /** Numbers with this bit are the provider's own. Bits 8 to 15 are the object type, bits 0 to 7 the number. */
    public static final int PROVIDER = 1 << 30;

    private static final int TYPE_SHIFT = 8;
    private static final int TYPE_MASK = 0xff;
    private static final int NUMBER_MASK = 0xff;
    private static final int SUMS = 0x80;
    /** Where a provider's own cells begin in an entry. */
    private static final int PROVIDER_CELLS = 48;
    private static final int SMALL_PROVIDER_CELLS = 24;
    private static final Map<Integer, String> NAMES = names();

    private SamplePoint() {}

    /** The kind of object that has the point, see {@link ObjectType}. */
    public static int objectType(int point) {
        return (point & ~PROVIDER) >>> TYPE_SHIFT;
    }

    /**
     * A provider's own point of an object type.
     *
     * @param number 0 to 15 for queue pairs and ports, 0 to 7 for others; there is none for sockets
     * @throws IndexOutOfBoundsException for another number
     */
    public static int ofProvider(int objectType, int number) {
        Objects.checkIndex(number, ofProvider(objectType));
        Objects.checkIndex(objectType, TYPE_MASK + 1);
        return PROVIDER | objectType << TYPE_SHIFT | number;
    }

    /** How many points of their own providers can have of an object type. */
    private static int ofProvider(int objectType) {
        if (objectType == ObjectType.SOCKETS) {
            return 0; // belongs to no provider, and has their cells
        }
        return objectType == ObjectType.QP || objectType == ObjectType.PORT ? 16 : 8;
    }

    /** The value's name, or its number if this version does not know it. */
    public static String toString(int point) {
        String name = NAMES.get(point);
        if (name == null && objectType(point) == ObjectType.PORT && (point & PROVIDER) == 0) {
            String qp = NAMES.get(point - PORT);
            name = qp == null ? null : "PORT" + qp.substring("QP".length());
        }
        return name == null ? "0x" + Integer.toHexString(point) : name;
    }

    /**
     * The cells of an object's entry that make up a point, a bit each.
     *
     * @return 0 for a number that no version up to this one has heard of
     */
    static long cells(int point) {
        int number = point & NUMBER_MASK;
        int type = objectType(point);
        boolean large = type == ObjectType.QP || type == ObjectType.PORT;
        if (type > TYPE_MASK || point < 0) {
            return 0;
        }
        if ((point & PROVIDER) != 0) {
            return number < ofProvider(type) ? 1L << number + (large ? PROVIDER_CELLS : SMALL_PROVIDER_CELLS) : 0;
        }
        if (!NAMES.containsKey(type == ObjectType.PORT ? point - PORT : point)) {
            return 0;
        }
        if (number < SUMS) {
            return 1L << number;
        }
        return switch (number) {
            case QP_TX_WORK_REQUESTS & NUMBER_MASK -> bits(QP_TX_SENDS, QP_TX_WRITES, QP_TX_READS, QP_TX_ATOMICS,
                    QP_TX_OTHERS);
            case QP_TX_BYTES & NUMBER_MASK -> bits(QP_TX_SEND_BYTES, QP_TX_WRITE_BYTES, QP_RX_READ_BYTES);
            case QP_RX_BYTES & NUMBER_MASK -> bits(QP_RX_RECEIVE_BYTES, QP_RX_WRITE_BYTES, QP_TX_READ_BYTES);
            case QP_REQ_ERRORS & NUMBER_MASK -> range(QP_REQ_LOCAL_LENGTH_ERRORS, QP_REQ_OTHER_ERRORS)
                    & ~bits(QP_REQ_FLUSHED);
            case QP_RESP_ERRORS & NUMBER_MASK -> range(QP_RESP_LOCAL_LENGTH_ERRORS, QP_RESP_OTHER_ERRORS)
                    & ~bits(QP_RESP_FLUSHED);
            default -> 0;
        };
    }

    /**
     * The cells that make up a point of an object which has only some: a sum goes over those that it has.
     *
     * @return 0 if the object has no such point
     */
    static long cells(int point, long counted) {
        long cells = cells(point);
        boolean sum = (point & PROVIDER) == 0 && (point & NUMBER_MASK) >= SUMS;
        return sum || (cells & counted) == cells ? cells & counted : 0;
    }

    private static long bits(int... points) {
        long mask = 0;
        for (int p : points) {
            mask |= 1L << p; // the number's low 6 bits
        }
        return mask;
    }

    private static long range(int first, int last) {
        long mask = 0;
        for (int p = first; p <= last; p++) {
            mask |= 1L << p;
        }
        return mask;
    }

    /** The points of an object type that consist of some of these cells only. */
    static int[] points(int objectType, long cells) {
        if (objectType < 0 || objectType > TYPE_MASK) {
            return new int[0]; // another process says what it likes
        }
        int origin = objectType == ObjectType.PORT ? PORT : 0;
        IntStream standard = NAMES.keySet().stream().mapToInt(p -> p + origin);
        IntStream own = IntStream.range(0, ofProvider(objectType)).map(n -> ofProvider(objectType, n));
        return IntStream.concat(standard, own).filter(p -> objectType(p) == objectType)
                .filter(p -> cells(p, cells) != 0).toArray();
    }

    private static Map<Integer, String> names() {
        Map<Integer, String> names = new TreeMap<>();
        try {
            for (Field f : SamplePoint.class.getFields()) {
                int value = f.getInt(null);
                if (value != PORT && value != PROVIDER || f.getName().contains("_")) {
                    names.put(value, f.getName());
                }
            }
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
        return names;
    }
}
