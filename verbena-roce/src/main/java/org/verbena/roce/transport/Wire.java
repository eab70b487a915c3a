// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import org.verbena.verbs.Gid;
import org.verbena.verbs.VerbsException;

/**
 * Carries packets and reads the clock: a UDP socket, or a test's wire in virtual time. A packet here is the bytes
 * between the UDP header and the ICRC, which the wire adds and checks. Used under the context's lock only.
 */
public interface Wire {
    /** Bytes at {@link #next()}: the longest headers, 4096 bytes of payload and padding. */
    int PACKET_ROOM = 4096 + 128;

    /** {@link #send}: the packet is not ECN-capable. */
    int ECN_NOT_CAPABLE = 0;
    /** {@link #send}: ECT(0), a router may mark the packet instead of dropping it (RFC 3168). */
    int ECN_CAPABLE = 2;
    /** Congestion experienced: a router's mark on an {@link #ECN_CAPABLE} packet. */
    int ECN_CONGESTION = 3;

    /** Nanoseconds of a monotonic clock, 0 or more and far from {@link Long#MAX_VALUE}, which is "never". */
    long nanoTime();

    /** The largest InfiniBand MTU that fits into the interface's: 256, 512, 1024, 2048 or 4096 bytes. */
    int mtu();

    /**
     * Resolves the path to a destination; control path.
     *
     * @param source one of the device's own GIDs
     * @param sourceGidIndex its index in the GID table
     * @throws VerbsException {@code EINVAL} if the two are of different address families, {@code EHOSTUNREACH} or
     *         {@code ENETUNREACH} if there is no route, {@code ENOMEM}
     */
    Path path(Gid source, int sourceGidIndex, Gid destination, int trafficClass, int flowLabel, int hopLimit)
            throws VerbsException;

    /**
     * Address for the next packet, {@link #PACKET_ROOM} bytes from an address that is a multiple of 8. Returns the same
     * address until {@link #send}.
     *
     * @return 0 if the batch is full and cannot be sent now: the caller retries later, see {@link #canSend()}
     */
    long next();

    /**
     * Adds the packet that was written to {@link #next()} to the batch.
     *
     * @param path the path to the destination
     * @param sourcePort requested UDP source port, 0xc000 to 0xffff; a wire with a single port ignores it
     * @param ecn {@link #ECN_NOT_CAPABLE} or {@link #ECN_CAPABLE}
     * @param length bytes from the BTH to the end of the padding, a multiple of 4
     */
    void send(Path path, int sourcePort, int ecn, int length);

    /** Sends the batch; packets that cannot be sent now are sent first the next time. */
    void flush();

    /** True if {@link #next()} would return an address. */
    boolean canSend();

    /**
     * Receives packets that have arrived, and drops those with a wrong ICRC. May leave some for the next
     * call, since it is called again and again.
     *
     * @param limit the largest number of packets
     * @param handler called for each; the packet is valid during the call only
     * @return the number of packets received, including dropped ones; 0 if there is none
     */
    int receive(int limit, PacketHandler handler);

    /** Like {@link #receive}, but takes all that has arrived; fewer than {@code limit} means that there is no more. */
    int receiveAll(int limit, PacketHandler handler);

    /** Packets from now on report their hop limit, which only the receives of datagrams need; control path. */
    default void reportHopLimits() {}

    /** A descriptor that is readable when packets have arrived; -1 if this wire has none. */
    int descriptor();

    /** Whether {@link #descriptor()} is polled; on at first. While it is not, packets arrive at less cost. */
    default void watch(boolean on) {}
}
