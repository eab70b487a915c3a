// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.telemetry;

import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

import org.jspecify.annotations.Nullable;

import org.verbena.telemetry.CounterEntry;

/** Stores the addresses of a socket into its entry, as {@link SocketLayout} has them. */
public final class SocketAddresses {
    private SocketAddresses() {}

    /**
     * Both addresses with their ports, and bits.
     *
     * @param local null if it is not known
     * @param remote null if it is not known, or there is none
     * @param bits those of {@link SocketLayout#PORTS} that do not belong to the addresses
     */
    public static void put(CounterEntry e, @Nullable InetSocketAddress local, @Nullable InetSocketAddress remote,
            int bits) {
        if (local != null) {
            put(e, SocketLayout.LOCAL, local);
        }
        if (remote != null) {
            put(e, SocketLayout.REMOTE, remote);
        }
        e.setAttribute(SocketLayout.PORTS, ports(local, remote) | bits);
    }

    /** What of {@link SocketLayout#PORTS} belongs to the addresses. */
    public static long ports(@Nullable InetSocketAddress local, @Nullable InetSocketAddress remote) {
        long ports = 0;
        if (local != null) {
            ports |= (long) local.getPort() << 48 | (isIpv4(local) ? SocketLayout.LOCAL_IPV4 : 0);
        }
        if (remote != null) {
            ports |= (long) remote.getPort() << 32 | (isIpv4(remote) ? SocketLayout.REMOTE_IPV4 : 0);
        }
        return ports;
    }

    private static boolean isIpv4(InetSocketAddress socket) {
        return socket.getAddress() instanceof Inet4Address;
    }

    private static void put(CounterEntry e, int at, InetSocketAddress socket) {
        ByteBuffer whole = ByteBuffer.allocate(2 * Long.BYTES).put(0, socket.getAddress().getAddress());
        e.setAttribute(at, whole.getLong(0));
        e.setAttribute(at + 1, whole.getLong(Long.BYTES));
    }
}
