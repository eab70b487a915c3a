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

    // ---- listener, rules

    /** Connections that were taken. */
    public static final int LISTENER_ACCEPTED = 0xa00;
    /** Sockets that the rule has decided. */
    public static final int RULE_SOCKETS = 0xb00;
    /** Sockets that the rules with this counter have decided. */
    public static final int RULE_COUNTER_SOCKETS = 0xc00;

    private SocketSamplePoint() {}
}
