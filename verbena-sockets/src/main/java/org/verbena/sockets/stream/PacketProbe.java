// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.io.IOException;
import java.nio.ByteBuffer;

import org.jspecify.annotations.Nullable;
import sun.nio.ch.SelChImpl;

import org.verbena.linux.LinuxException;
import org.verbena.linux.TcpConnection;

/**
 * Says what is next in a stream without taking it, for a receive that must not copy. For the thread that reads, which
 * keeps the descriptor open.
 */
public final class PacketProbe {
    /** Bytes are there, and only a copy can receive them. */
    public static final int COPY = -5;
    /** A ring carries the stream, perhaps since this moment: {@link RingPackets#receive} knows more. */
    public static final int RING = -6;

    private PacketProbe() {}

    /**
     * What is next, where {@link RingPackets#receive} has answered {@link RingPackets#BY_TCP}.
     *
     * @return 0 if there is nothing yet; -1 at the end of the stream; {@link #COPY}; {@link #RING}
     * @throws IOException as a read at the end
     */
    public static int next(Stream stream) throws IOException {
        Inbound in = stream.in();
        if (in == null) {
            return ofTcp(stream);
        }
        synchronized (in) {
            RingReader prepared = in.ring;
            if (in.phase == Phase.UNDECIDED && prepared != null) {
                in.undecidedReady(); // has what TCP brings in the leftover, from which reads take it
                if (in.phase == Phase.UNDECIDED && !in.leftover.hasRemaining()) {
                    return in.atEnd(prepared);
                }
            }
            if (in.leftover.hasRemaining()) {
                return COPY;
            }
            if (in.phase != Phase.RING || prepared == null) {
                return ofTcp(stream);
            }
            return stream.isHandshakeComplete() ? RING : prepared.probe();
        }
    }

    /** TCP alone brings what is next; no ring is prepared meanwhile, for the lock of the direction is held. */
    private static int ofTcp(Stream stream) throws IOException {
        if (!(stream.tcp() instanceof SelChImpl channel)) {
            return COPY; // unknown: the caller is to read
        }
        int fd = channel.getFDVal();
        boolean ended = TcpConnection.hasEnded(fd); // first: nothing comes after the end
        if (TcpConnection.unread(fd) > 0) {
            return COPY;
        }
        return ended ? stream.read(ByteBuffer.allocate(1)) : 0; // takes nothing, but knows which end it is
    }

    /** Whether more can be read now; never fails, for a caller that has taken bytes. */
    public static boolean hasMore(Stream stream) {
        return stream.available(stream.isInputByRing()
                ? 0
                : unread(stream.tcp() instanceof SelChImpl c ? c : null)) > 0;
    }

    private static int unread(@Nullable SelChImpl channel) {
        try {
            return channel == null ? 0 : TcpConnection.unread(channel.getFDVal());
        } catch (LinuxException e) {
            return 0; // the next call finds out
        }
    }
}
