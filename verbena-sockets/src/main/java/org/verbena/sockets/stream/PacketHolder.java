// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.extra.ReceivedPackets;

/** Packets as a receive has brought them, in arrays of their own: to fill them again allocates nothing. For one thread at a time. */
public final class PacketHolder implements ReceivedPackets {
    private final long[] ids;
    private final int[] lengths;
    /** The first fragment of each packet, and of one more. */
    private final int[] firstFragments;
    private final @Nullable MemorySegment[] memory;
    private final int[] offsets;
    private final int[] fragmentLengths;
    private int packets;
    private boolean truncated;
    private @Nullable SocketAddress source;
    private @Nullable SocketAddress destination;
    /** Keeps the channel reachable, and so what was received from it held, as long as this object is. */
    private @Nullable Object channel;
    private final PacketLeaks.Last last = new PacketLeaks.Last();

    /** With room for some packets, and for some fragments of all of them. */
    public PacketHolder(int packets, int fragments) {
        ids = new long[packets];
        lengths = new int[packets];
        firstFragments = new int[packets + 1];
        memory = new MemorySegment[fragments];
        offsets = new int[fragments];
        fragmentLengths = new int[fragments];
        PacketLeaks.watch(this, last);
    }

    /** Forgets what there was, so that a holder that is not in use keeps neither a channel nor memory. */
    public void clear() {
        Arrays.fill(memory, 0, firstFragments[packets], null);
        packets = 0;
        truncated = false;
        channel = null;
        source = null;
        destination = null;
    }

    /** {@linkplain #clear Forgets} packets that are freed, which need not be looked for when this object is collected. */
    public void freed() {
        clear();
        last.set(null, 0, 0);
    }

    /** Before packets are added, of a channel with these addresses. */
    public void of(Object owner, @Nullable SocketAddress from, @Nullable SocketAddress to) {
        channel = owner;
        source = from;
        destination = to;
    }

    /** Whether there is room for a packet of one fragment. */
    boolean hasRoom() {
        return packets < ids.length && firstFragments[packets] < memory.length;
    }

    /**
     * Adds a packet, if there is room for it, or for its first fragment.
     *
     * @param at offset of its first byte in {@code ring}; a second fragment is at the beginning
     * @return its bytes: of the first fragment only, if there is no room for two
     */
    int add(long id, MemorySegment ring, int at, int length) {
        int f = firstFragments[packets];
        int head = (int) Math.min(length, ring.byteSize() - at);
        int taken = head;
        put(f, ring, at, head);
        if (head < length && f + 1 < memory.length) {
            put(++f, ring, 0, length - head);
            taken = length;
        }
        ids[packets] = id;
        lengths[packets] = taken;
        firstFragments[++packets] = f + 1;
        return taken;
    }

    private void put(int f, MemorySegment ring, int offset, int length) {
        memory[f] = ring;
        offsets[f] = offset;
        fragmentLengths[f] = length;
    }

    /** More was there than was received. */
    public void truncated() {
        truncated = true;
    }

    /** The packets are all there, and are to be freed at this. */
    void received(RingPackets from) {
        try {
            last.set(from, (int) ids[0], packets);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Identifiers of the packets that there are, from 0 to {@link #count}. */
    public long[] ids() {
        return ids;
    }

    @Override
    public int packetCapacity() {
        return ids.length;
    }

    @Override
    public int fragmentCapacity() {
        return memory.length;
    }

    @Override
    public int count() {
        return packets;
    }

    @Override
    public boolean isZeroCopy() {
        return packets > 0;
    }

    @Override
    public boolean isTruncated() {
        return truncated;
    }

    private int check(int packet) {
        return Objects.checkIndex(packet, packets);
    }

    private int check(int packet, int fragment) {
        return firstFragments[packet] + Objects.checkIndex(fragment, fragments(packet));
    }

    @Override
    public long id(int packet) {
        return ids[check(packet)];
    }

    @Override
    public int length(int packet) {
        return lengths[check(packet)];
    }

    @Override
    public int fragments(int packet) {
        return firstFragments[check(packet) + 1] - firstFragments[packet];
    }

    @Override
    public MemorySegment memory(int packet, int fragment) {
        return Objects.requireNonNull(memory[check(packet, fragment)]);
    }

    @Override
    public long offset(int packet, int fragment) {
        return offsets[check(packet, fragment)];
    }

    @Override
    public int length(int packet, int fragment) {
        return fragmentLengths[check(packet, fragment)];
    }

    @Override
    public @Nullable SocketAddress source(int packet) {
        check(packet);
        return source;
    }

    @Override
    public @Nullable SocketAddress destination(int packet) {
        check(packet);
        return destination;
    }

    @Override
    public int copy(int packet, int from, ByteBuffer into) {
        int skip = Objects.checkIndex(from, length(packet) + 1);
        int done = 0;
        MemorySegment to = MemorySegment.ofBuffer(into);
        for (int f = firstFragments[packet]; f < firstFragments[packet + 1]; f++) {
            int n = Math.min(fragmentLengths[f] - skip, into.remaining() - done);
            if (n > 0) {
                MemorySegment.copy(Objects.requireNonNull(memory[f]), ValueLayout.JAVA_BYTE, (long) offsets[f] + skip,
                        to,
                        ValueLayout.JAVA_BYTE,
                        done, n);
                done += n;
            }
            skip = Math.max(0, skip - fragmentLengths[f]);
        }
        into.position(into.position() + done);
        return done;
    }

    /** The channel of the packets. */
    @Nullable
    Object channel() {
        return channel;
    }
}
