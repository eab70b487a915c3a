// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets;

/**
 * What is counted of sockets and of what belongs to them: sample points beside those of {@code org.verbena.verbs.SamplePoint}.
 * The name begins with the kind of object a point belongs to, see {@link SocketObjectType}.
 */
public final class SocketSamplePoint {
    // ---- sockets: all of a process, those that have ended too

    /** Connections that there were. */
    public static final int SOCKETS_OPENED = 0x800;
    /** Of these, those whose handshake has succeeded, so that they have rings. */
    public static final int SOCKETS_HANDSHAKES = 0x801;
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
    /** Connections that TCP carries to the end, for they were closed before the handshake was complete. */
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
    /** Connections that TCP carries so far, for they have carried too little for rings. */
    public static final int SOCKETS_BY_TCP_NOT_EARNED = 0x818;
    /** Polls of memory by threads that waited, and did not have to sleep for it. */
    public static final int SOCKETS_POLLS_FOUND = 0x81c;
    /** Polls of memory by threads that waited, and had to sleep after it. */
    public static final int SOCKETS_POLLS_IN_VAIN = 0x81d;
    /** How long threads that waited polled memory, in nanoseconds. */
    public static final int SOCKETS_POLL_NANOS = 0x81e;
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

    // ---- connection: response times, where verbena.latency is on, from a write that follows a read to the next read
    /** Responses that took less than 256 ns. */
    public static final int CONNECTION_RESPONSES_256NS = 0x908;
    /** Responses that took 256 to 512 ns. */
    public static final int CONNECTION_RESPONSES_512NS = 0x909;
    /** Responses that took 512 to 1024 ns. */
    public static final int CONNECTION_RESPONSES_1US = 0x90a;
    /** Responses that took 1024 to 2048 ns. */
    public static final int CONNECTION_RESPONSES_2US = 0x90b;
    /** Responses that took 2048 to 4096 ns. */
    public static final int CONNECTION_RESPONSES_4US = 0x90c;
    /** Responses that took 4096 to 8192 ns. */
    public static final int CONNECTION_RESPONSES_8US = 0x90d;
    /** Responses that took 8192 to 16384 ns. */
    public static final int CONNECTION_RESPONSES_16US = 0x90e;
    /** Responses that took 16384 to 32768 ns. */
    public static final int CONNECTION_RESPONSES_32US = 0x90f;
    /** Responses that took 32768 to 65536 ns. */
    public static final int CONNECTION_RESPONSES_65US = 0x910;
    /** Responses that took 65536 to 131072 ns. */
    public static final int CONNECTION_RESPONSES_131US = 0x911;
    /** Responses that took 131072 to 262144 ns. */
    public static final int CONNECTION_RESPONSES_262US = 0x912;
    /** Responses that took 262144 to 524288 ns. */
    public static final int CONNECTION_RESPONSES_524US = 0x913;
    /** Responses that took 524288 to 1048576 ns. */
    public static final int CONNECTION_RESPONSES_1MS = 0x914;
    /** Responses that took 1048576 to 2097152 ns. */
    public static final int CONNECTION_RESPONSES_2MS = 0x915;
    /** Responses that took 2097152 to 4194304 ns. */
    public static final int CONNECTION_RESPONSES_4MS = 0x916;
    /** Responses that took 4194304 to 8388608 ns. */
    public static final int CONNECTION_RESPONSES_8MS = 0x917;
    /** Responses that took 8388608 to 16777216 ns. */
    public static final int CONNECTION_RESPONSES_16MS = 0x918;
    /** Responses that took 16777216 to 33554432 ns. */
    public static final int CONNECTION_RESPONSES_33MS = 0x919;
    /** Responses that took 33554432 to 67108864 ns. */
    public static final int CONNECTION_RESPONSES_67MS = 0x91a;
    /** Responses that took 67108864 to 134217728 ns. */
    public static final int CONNECTION_RESPONSES_134MS = 0x91b;
    /** Responses that took 134217728 to 268435456 ns. */
    public static final int CONNECTION_RESPONSES_268MS = 0x91c;
    /** Responses that took 268435456 to 536870912 ns. */
    public static final int CONNECTION_RESPONSES_536MS = 0x91d;
    /** Responses that took 536870912 to 1073741824 ns. */
    public static final int CONNECTION_RESPONSES_1S = 0x91e;
    /** Responses that took 2^30 ns (1.07 s) or longer. */
    public static final int CONNECTION_RESPONSES_LONGER = 0x91f;

    // ---- listener, rules

    /** Connections that were taken. */
    public static final int LISTENER_ACCEPTED = 0xa00;
    /** Sockets that the rule has decided. */
    public static final int RULE_SOCKETS = 0xb00;
    /** Sockets that the rules with this counter have decided. */
    public static final int RULE_COUNTER_SOCKETS = 0xc00;

    private SocketSamplePoint() {}
}
