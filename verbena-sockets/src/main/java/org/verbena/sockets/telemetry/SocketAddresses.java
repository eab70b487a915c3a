// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.telemetry;

import java.net.InetAddress;
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
        long ports = bits;
        if (local != null) {
            ports |= (long) local.getPort() << 48 | put(e, SocketLayout.LOCAL, local, SocketLayout.LOCAL_IPV4);
        }
        if (remote != null) {
            ports |= (long) remote.getPort() << 32 | put(e, SocketLayout.REMOTE, remote, SocketLayout.REMOTE_IPV4);
        }
        e.setAttribute(SocketLayout.PORTS, ports);
    }

    private static int put(CounterEntry e, int at, InetSocketAddress socket, int ipv4) {
        InetAddress a = socket.getAddress();
        byte[] bytes = a.getAddress();
        ByteBuffer whole = ByteBuffer.allocate(2 * Long.BYTES).put(0, bytes);
        e.setAttribute(at, whole.getLong(0));
        e.setAttribute(at + 1, whole.getLong(Long.BYTES));
        return bytes.length == 4 ? ipv4 : 0;
    }
}
