// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.telemetry;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;

import org.jspecify.annotations.Nullable;

import org.verbena.stack.model.TcpInfo;
import org.verbena.telemetry.CounterEntry;

/** Stores what a stack and its sockets are into their entries of a counter file. The meaning of the attributes' numbers is here alone. */
public final class StackLayout {
    /** Two longs: the local address, from its first byte on. */
    static final int LOCAL = 0;
    /** Two longs: the remote address. */
    static final int REMOTE = 2;
    /** Local port, 48; remote port, 32; bits, as follows. */
    static final int PORTS = 4;
    /** A bit: the local address is one of IPv4. */
    static final int LOCAL_IPV4 = 1;
    /** A bit: the remote address is one of IPv4. */
    static final int REMOTE_IPV4 = 2;
    /** A bit: there is a remote address. */
    static final int HAS_REMOTE = 4;
    /** Bytes that were not read, 32, of a listener connections that were not accepted; bytes that are not acknowledged. */
    static final int QUEUES = 5;
    /** Bytes of the congestion window, 32; bytes of a full segment. */
    static final int WINDOW = 6;
    /** Smoothed round-trip time in microseconds, 32; its mean deviation. */
    static final int ROUND_TRIP = 7;
    /** Of a stack: connections, 32; other sockets. */
    static final int OPEN = 5;
    /** Of a stack: connections in TIME_WAIT, 32; connections and sockets that have no entry. */
    static final int OTHERS = 6;

    private static final long MOST = 0xffff_ffffL;

    private StackLayout() {}

    /** The addresses; {@code remote} is null if there is none. */
    public static void addresses(CounterEntry e, InetAddress local, int port, @Nullable InetAddress remote,
            int remotePort) {
        put(e, LOCAL, local);
        long bits = (long) port << 48 | (local instanceof Inet4Address ? LOCAL_IPV4 : 0);
        if (remote != null) {
            put(e, REMOTE, remote);
            bits |= (long) remotePort << 32 | HAS_REMOTE | (remote instanceof Inet4Address ? REMOTE_IPV4 : 0);
        }
        e.setAttribute(PORTS, bits);
    }

    private static void put(CounterEntry e, int at, InetAddress a) {
        ByteBuffer whole = ByteBuffer.allocate(2 * Long.BYTES).put(0, a.getAddress());
        e.setAttribute(at, whole.getLong(0));
        e.setAttribute(at + 1, whole.getLong(Long.BYTES));
    }

    /** What waits to be read, or accepted, and to be sent or acknowledged. */
    public static void queues(CounterEntry e, long in, long out) {
        e.setAttribute(QUEUES, pair(in, out));
    }

    /** How a connection does. */
    @SuppressWarnings("EnumOrdinal") // as the kind reads it
    public static void info(CounterEntry e, TcpInfo i) {
        e.setState(i.state().ordinal());
        queues(e, i.unread(), (long) i.unsent() + i.inFlight());
        e.setAttribute(WINDOW, pair(i.congestionWindow(), i.segment()));
        e.setAttribute(ROUND_TRIP, pair(i.roundTrip() / 1000, i.roundTripVariation() / 1000));
    }

    /** What a stack has; connections in TIME_WAIT are not among the others. */
    public static void open(CounterEntry e, int connections, int sockets, int timeWaits, int notPublished) {
        e.setAttribute(OPEN, pair(connections, sockets));
        e.setAttribute(OTHERS, pair(timeWaits, notPublished));
    }

    private static long pair(long high, long low) {
        return Math.clamp(high, 0, MOST) << 32 | Math.clamp(low, 0, MOST);
    }
}
