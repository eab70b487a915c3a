// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.extra;

import java.lang.foreign.MemorySegment;
import java.net.SocketAddress;
import java.nio.ByteBuffer;

import org.jspecify.annotations.Nullable;

/**
 * What one {@link ExtraApi#receive} has received: {@code vma_packets_t}. {@link ExtraApi#newPackets} makes one, which is filled again and
 * again; to read it allocates nothing, but for {@link #fragment} and {@link #copy}. Each packet has an identifier, by which it is freed, and its bytes in
 * one or more fragments, which lie where the peer has written them.
 *
 * <p>The next receive forgets what the last one has received and does not free it: a program that holds packets longer copies their
 * identifiers, and keeps the channel. Once a packet is freed, the peer writes other bytes to its memory. To read that memory still is an error of
 * the program: it may find these, or bytes of another connection, but never crashes. Memory of packets that nobody can free any more, because the channel and all
 * objects of this type that have packets of it are gone, is given back and reported by the logger {@code org.verbena.sockets}.
 *
 * <p>For one thread at a time. Offsets and lengths are in bytes. Methods that take a packet or a fragment throw {@link
 * IndexOutOfBoundsException} where there is none.
 */
public interface ReceivedPackets {
    /** Packets that one receive can bring at most. */
    int packetCapacity();

    /** Fragments that all of them together can have. */
    int fragmentCapacity();

    /** Packets that the last receive has brought; 0 if its bytes were copied, or there were none: {@code n_packet_num}. */
    int count();

    /** Whether the last receive has brought packets, rather than copied bytes: {@code MSG_VMA_ZCOPY} among the flags that it returns. */
    boolean isZeroCopy();

    /**
     * Whether more was there than this object, or the buffer of a copy, has room for. Of a stream nothing is lost: the rest comes with the next
     * receive or read. Of a datagram, it is: {@code MSG_TRUNC}.
     */
    boolean isTruncated();

    /**
     * Identifier of a packet, never 0: {@code packet_id}. It is that of no other packet that is held; a later packet of the same connection has it again after 2^32
     * others.
     */
    long id(int packet);

    /** Bytes of a packet. */
    int length(int packet);

    /** How many fragments a packet has, at least one: {@code sz_iov}. */
    int fragments(int packet);

    /** Memory in which a fragment lies, read-only; {@link #offset} says where. Fragments of the same ring have the same. */
    MemorySegment memory(int packet, int fragment);

    /** Where in its memory a fragment begins. */
    long offset(int packet, int fragment);

    /** Bytes of a fragment: {@code iov_len}. */
    int length(int packet, int fragment);

    /** Where a packet is from, null if that is not known any more: {@code from}. */
    @Nullable
    SocketAddress source(int packet);

    /** Where a packet was sent to: the local address of a connection. */
    @Nullable
    SocketAddress destination(int packet);

    /** A fragment as a segment of its own, read-only. Allocates, other than {@link #memory} with {@link #offset}. */
    default MemorySegment fragment(int packet, int fragment) {
        return memory(packet, fragment).asSlice(offset(packet, fragment), length(packet, fragment));
    }

    /**
     * Copies bytes of a packet. Allocates a small object at each call: where that matters, copy from {@link #memory} to a segment that is kept.
     *
     * @param from bytes of the packet to skip
     * @return bytes that were copied: as many as the packet has from there, or the buffer has room for
     * @throws IndexOutOfBoundsException if {@code from} is negative or beyond the packet
     */
    int copy(int packet, int from, ByteBuffer into);
}
