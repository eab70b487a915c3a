// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.telemetry;

import java.util.List;

import org.verbena.sockets.SocketSamplePoint;

/** What the attributes of an entry of a counter file mean that belongs to sockets. */
public final class SocketLayout {
    // ---- of the sockets of a process

    /** Connections that there are. */
    public static final int OPEN = 0;
    /** Sockets that listen. */
    public static final int LISTENING = 1;
    /** Of both, those that have no entry. */
    public static final int NOT_PUBLISHED = 2;
    /** In a program that has the agent: {@link #AGENT}, and a bit for each of {@link #PARTS} that is Verbena's. */
    public static final int ACTIVE = 3;
    /** Sockets that listen and are not Verbena's, from before it was there. */
    public static final int PLAIN_LISTENERS = 4;
    /** A bit: there is the agent. */
    public static final long AGENT = 1L << 32;
    /** What is Verbena's by the agent, each if the JDK has the agent's change to it. */
    public static final List<String> PARTS = List.of("channels", "classic sockets", "classic listeners",
            "asynchronous channels", "transferTo");

    /** Bytes that the sessions of the process have for rings. */
    public static final int RING_BYTES = 5;
    /** Bytes from which on no large ring is granted, a part of {@link #MEMORY_LIMIT}. */
    public static final int RING_LIMIT = 6;
    /** Bytes that the process may have, with those that it shares the limit with; and two bits, as follows. */
    public static final int MEMORY_LIMIT = 7;
    /** A bit: it is the limit of a control group; else it is the machine's memory. */
    public static final long OF_GROUP = 1L << 63;
    /** A bit: there is so little memory left that no large ring is granted. */
    public static final long MEMORY_SHORT = 1L << 62;

    // ---- of a connection or a listener

    /** The name of one that has no rings to another host; else it is that of the device. */
    public static final String NO_DEVICE = "sockets";

    /** Two longs: the local address, from its first byte on. */
    public static final int LOCAL = 0;
    /** Two longs: the remote address. */
    public static final int REMOTE = 2;
    /** Local port, 48; remote port, 32; bits, as follows. */
    public static final int PORTS = 4;
    /** A bit: the local address is one of IPv4. */
    public static final int LOCAL_IPV4 = 1;
    /** A bit: the remote address is one of IPv4. */
    public static final int REMOTE_IPV4 = 2;
    /** Where two bits begin: {@link #CLIENT} or {@link #SERVER}. */
    public static final int ROLE = 2;
    /** It has connected. */
    public static final int CLIENT = 1;
    /** It was accepted. */
    public static final int SERVER = 2;
    /** Where two bits begin: 1 TCP, 2 a ring carries what comes in. */
    public static final int IN_BY = 4;
    /** Where two bits begin: the same of what goes out. */
    public static final int OUT_BY = 6;
    /** Where eight bits begin: why TCP carries it to the end, added to {@link #FIRST_REASON}; 0 if that is not so. */
    public static final int REASON = 8;
    /** The sample point before that of the first reason. */
    public static final int FIRST_REASON = SocketSamplePoint.SOCKETS_BY_TCP_REMOTE_PEER - 1;
    /** Entry of the rule that has decided. */
    public static final int RULE = 5;
    /** Bytes of the ring that goes out, 32; bytes in it that are not read. */
    public static final int OUT_RING = 6;
    /** The same of the ring that comes in. */
    public static final int IN_RING = 7;

    // ---- of remote memory, which has the addresses and the role of its connection

    /** Regions of this end, 32; regions of the other end that this one may use. */
    public static final int REGIONS = 5;
    /** Bytes of this end's regions. */
    public static final int LOCAL_BYTES = 6;
    /** Bytes of the other end's regions. */
    public static final int REMOTE_BYTES = 7;

    // ---- of a rule

    /** Line in which it was written. */
    public static final int LINE = 0;
    /** Seven longs: where it was written, a file, a property or a method; see {@link RuleSource}. */
    public static final int SOURCE = 1;

    private SocketLayout() {}
}
