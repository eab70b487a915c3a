// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.NetworkChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.SocketSamplePoint;
import org.verbena.sockets.SocketState;
import org.verbena.sockets.telemetry.SocketAddresses;
import org.verbena.sockets.telemetry.SocketLayout;
import org.verbena.telemetry.CounterEntry;

/**
 * The entry of one socket in the counter file. What a socket has published hangs on it, so that an update allocates nothing for
 * one that it knows. Guarded by {@link PublishedSockets}.
 */
final class PublishedSocket implements StreamState.Reader {
    private static final int TCP = 1;
    private static final int RING = 2;

    private final CounterEntry entry;
    /** Whether it has the name of the device that leads to the peer, which is known after the handshake. */
    private final boolean isByDevice;
    /** Number of the last update that has found the socket. */
    private long foundBy;
    /** The ports, once all addresses are there: those of a connection, and of what listens, do not change. */
    private long ports;
    private boolean hasAddresses;
    /** The bits beside the ports that the state of a stream has told. */
    private int stateBits;

    PublishedSocket(CounterEntry entry, boolean isByDevice) {
        this.entry = entry;
        this.isByDevice = isByDevice;
    }

    boolean isByDevice() {
        return isByDevice;
    }

    /** Whether other processes can see it. */
    boolean isVisible() {
        return entry.isVisible();
    }

    /** An update has found the socket. */
    void found(long update) {
        foundBy = update;
    }

    boolean isFoundBy(long update) {
        return foundBy == update;
    }

    /** The socket is no more, or gets another entry. */
    void close() {
        entry.close();
    }

    /**
     * Brings it up to date.
     *
     * @param rule entry of the one that has decided; 0 if there is none
     * @param tally for use here
     */
    void update(Stream s, long rule, StreamTally tally) {
        s.state(this);
        SocketChannel tcp = s.tcp();
        addresses(tcp, tcp,
                (s.role() == Stream.Role.CLIENT ? SocketLayout.CLIENT : SocketLayout.SERVER) << SocketLayout.ROLE
                        | stateBits);
        entry.setAttribute(SocketLayout.RULE, rule);
        tally.clear();
        s.addTo(tally);
        tally.raise(entry, SocketSamplePoint.CONNECTION_TX_RING_BYTES);
        if (s.times != null) {
            s.times.raise(entry);
        }
    }

    @Override
    @SuppressWarnings("EnumOrdinal")
    public void read(int state, boolean inputByRing, boolean outputByRing, FallbackReason reason, int outRing,
            long outOccupied, int inRing, long inOccupied) {
        entry.setState(state);
        stateBits = (inputByRing ? RING : TCP) << SocketLayout.IN_BY
                | (outputByRing ? RING : TCP) << SocketLayout.OUT_BY
                | reason.ordinal() << SocketLayout.REASON;
        entry.setAttribute(SocketLayout.OUT_RING, (long) outRing << 32 | outOccupied);
        entry.setAttribute(SocketLayout.IN_RING, (long) inRing << 32 | inOccupied);
    }

    /** As the other. */
    void update(OpenSocket s, long rule) {
        ServerSocketChannel listening = s.listening();
        SocketChannel connecting = s.connecting();
        if (listening != null) {
            entry.setState(SocketState.LISTEN);
            addresses(listening, null, 0);
            PublishedSockets.raise(entry, SocketSamplePoint.LISTENER_ACCEPTED, s.connectionsAccepted());
        } else if (connecting != null) {
            entry.setState(SocketState.CONNECTING);
            hasAddresses = false; // the kernel chooses one while it connects
            addresses(connecting, connecting, SocketLayout.CLIENT << SocketLayout.ROLE);
        }
        entry.setAttribute(SocketLayout.RULE, rule);
    }

    /** Addresses and bits; of a channel that is closed meanwhile they stay as they were. */
    private void addresses(NetworkChannel local, @Nullable SocketChannel remote, int bits) {
        if (hasAddresses) {
            entry.setAttribute(SocketLayout.PORTS, ports | bits);
            return;
        }
        try {
            InetSocketAddress here = internet(local.getLocalAddress());
            InetSocketAddress there = remote == null ? null : internet(remote.getRemoteAddress());
            SocketAddresses.put(entry, here, there, bits);
            ports = SocketAddresses.ports(here, there);
            hasAddresses = here != null && (remote == null || there != null);
        } catch (IOException closed) {
            // the next update finds it gone
        }
    }

    private static @Nullable InetSocketAddress internet(@Nullable SocketAddress address) {
        return address instanceof InetSocketAddress a ? a : null;
    }
}
