// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.lang.foreign.MemorySegment;

import org.verbena.linux.Errno;
import org.verbena.linux.IoVectors;
import org.verbena.linux.LinuxException;
import org.verbena.linux.PacketSocket;
import org.verbena.linux.VnetHeader;
import org.verbena.verbs.VerbsException;
import org.verbena.xdp.packet.Headers;

/**
 * Sends that the kernel or the interface cuts into segments, {@code ibv_wr_send_tso}. AF_XDP has no such request, so they
 * go by a packet socket on the same interface; TAP has. The kernel copies while it is called, so a send is done when the
 * call returns. Under the lock of the send side.
 */
final class SegmentedSends {
    private static final int MAX_PLACES = 2 + XdpLimits.MAX_SGE;

    /** Where they go. */
    interface Way {
        /** Sends a {@link VnetHeader} and a frame: the bytes of both, or minus errno. */
        long send(IoVectors frame);
    }

    private final Way way;
    private final Runnable end;
    private final IoVectors places = new IoVectors(MAX_PLACES);
    private final Headers headers = new Headers();

    private SegmentedSends(Way way, Runnable end) {
        this.way = way;
        this.end = end;
    }

    /** By what somebody else closes. */
    static SegmentedSends by(Way way) {
        return new SegmentedSends(way, () -> {});
    }

    static SegmentedSends open(String verb, XdpDevice device) throws VerbsException {
        try {
            PacketSocket socket = PacketSocket.open(device.index(), false);
            return new SegmentedSends(socket::send, socket::close);
        } catch (LinuxException e) {
            throw new VerbsException(verb, e);
        }
    }

    /**
     * Begins a send.
     *
     * @param header where the headers are, which are changed: lengths and checksums
     * @param payload bytes behind them
     * @param segment bytes of payload in each segment
     * @return false if these are no headers of TCP or UDP
     */
    boolean begin(MemorySegment header, long at, int length, int payload, int segment) {
        if (!headers.readTemplate(header, at, length, payload)) {
            return false;
        }
        int type = headers.isUdp()
                ? VnetHeader.GSO_UDP_L4
                : headers.isVersion4() ? VnetHeader.GSO_TCPV4 : VnetHeader.GSO_TCPV6;
        if (payload > segment) {
            VnetHeader.segmented(places.header(), 0, type, length, segment, headers.transport(), headers
                    .checksumOffset());
        } else {
            VnetHeader.checksum(places.header(), 0, headers.transport(), headers.checksumOffset());
        }
        places.clear().add(places.header(), 0, VnetHeader.BYTES).add(header, at, length);
        return true;
    }

    /** Adds a part of the payload; false if its memory is gone. */
    boolean add(MemorySegment memory, long offset, int length) {
        try {
            places.add(memory, offset, length);
            return true;
        } catch (IllegalStateException closed) {
            return false;
        }
    }

    /** Sends it: 0, {@link FrameSender#LATER} or an errno. */
    int send() {
        return result(way.send(places));
    }

    /** What came out, as {@link #send} says it. */
    static int result(long bytes) {
        if (bytes >= 0) {
            return 0;
        }
        return switch ((int) -bytes) {
            case Errno.ENOBUFS -> 0; // the interface has dropped it, as a wire may
            case Errno.EAGAIN, Errno.ENETDOWN, Errno.EIO -> FrameSender.LATER; // TAP: it is down
            default -> (int) -bytes;
        };
    }

    /** Whether an errno says that there is no interface any more. */
    static boolean isGone(int errno) {
        return errno == Errno.ENXIO || errno == Errno.ENODEV || errno == Errno.EBADF || errno == Errno.EBADFD;
    }

    void close() {
        end.run();
    }
}
