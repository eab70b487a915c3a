// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import org.verbena.verbs.Gid;
import org.verbena.verbs.VerbsException;

/**
 * What carries packets, and what time it is: a UDP socket, or a test's wire in virtual time. A packet here is what lies
 * between the UDP header and the ICRC, which the wire adds and checks. Used under the context's lock only.
 */
public interface Wire {
    /** Room that {@link #next()} has: the longest headers, 4096 bytes of payload and padding. */
    int PACKET_ROOM = 4096 + 128;

    /** {@link #send}: the packet carries no congestion mark. */
    int ECN_NOT_CAPABLE = 0;
    /** {@link #send}: ECT(0), a router may mark the packet instead of dropping it (RFC 3168). */
    int ECN_CAPABLE = 2;
    /** What a router has made of {@link #ECN_CAPABLE}. */
    int ECN_CONGESTION = 3;

    /** Nanoseconds of a clock that only goes forward, 0 or more and far from {@link Long#MAX_VALUE}, which is "never". */
    long nanoTime();

    /** The largest InfiniBand MTU that fits into the interface's: 256, 512, 1024, 2048 or 4096 bytes. */
    int mtu();

    /**
     * How a destination is reached; control path.
     *
     * @param source one of the device's own GIDs
     * @param sourceGidIndex where in the GID table that is
     * @throws VerbsException {@code EINVAL} if the two are of different address families, {@code EHOSTUNREACH} or
     *         {@code ENETUNREACH} if there is no route, {@code ENOMEM}
     */
    Path path(Gid source, int sourceGidIndex, Gid destination, int trafficClass, int flowLabel, int hopLimit)
            throws VerbsException;

    /**
     * Where the next packet is to be written, {@link #PACKET_ROOM} bytes from an address that is a multiple of 8. Asking
     * again without {@link #send} answers the same address.
     *
     * @return 0 if the batch is full and cannot leave now: the caller tries again later, see {@link #canSend()}
     */
    long next();

    /**
     * Adds the packet that was written to {@link #next()} to the batch.
     *
     * @param path where to
     * @param sourcePort UDP source port wanted, 0xc000 to 0xffff; a wire that has one port only uses that
     * @param ecn {@link #ECN_NOT_CAPABLE} or {@link #ECN_CAPABLE}
     * @param length bytes from the BTH to the padding's end, a multiple of 4
     */
    void send(Path path, int sourcePort, int ecn, int length);

    /** Sends the batch; what does not leave now stays and leaves first the next time. */
    void flush();

    /** True if {@link #next()} would answer an address. */
    boolean canSend();

    /**
     * Takes packets that have arrived, and drops those whose ICRC is wrong.
     *
     * @param limit how many at most
     * @param handler called for each; the packet is valid during the call only
     * @return how many were taken, dropped ones included; 0 if there is none
     */
    int receive(int limit, PacketHandler handler);

    /** Packets from now on tell their hop limit, which only the receives of datagrams want to know; control path. */
    default void tellHopLimits() {}

    /** A descriptor that is readable when packets have arrived; -1 if this wire has none. */
    int descriptor();

    /** Whether {@link #descriptor()} is looked at; on at first. Where it is not, packets arrive at less cost. */
    default void watch(boolean on) {}
}
