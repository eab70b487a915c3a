// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.stream.memory.Memory;
import org.verbena.sockets.stream.memory.StreamLog;

/**
 * Packets that a program has received from the rings of a connection and reads there. Their bytes stay where they are until they are freed,
 * whatever becomes of the connection: a ring that the peer has left is kept as long as one lies in it, as is the connection's memory when it is closed.
 * Receives are for the thread that reads; the rest is for any thread. This object's lock is taken before the session's.
 */
public final class RingPackets {
    /** The answer of {@link #receive} if too many packets are held, or the holder has no room. */
    public static final int FULL = -3;
    /** The answer of {@link #receive} if no ring brings what is next, or none that may be held: {@link PacketProbe}. */
    public static final int BY_TCP = -4;

    private static final int MAX_PACKET = 64 << 10;

    private record Left(Memory ring, long end) {}

    private final RingReader ring;
    private final Outbound back;
    private final long socket;

    // guarded by this
    private final HeldPackets window = new HeldPackets();
    /** Rings behind which the reader is, the oldest first, of which packets are held. */
    private final ArrayDeque<Left> left = new ArrayDeque<>(1);
    private @Nullable Memory seen;
    private @Nullable MemorySegment view;
    private String name = "";
    private @Nullable String leak;
    /** Of holders that were collected: no leak as long as the program has the identifiers. */
    private @Nullable String hint;
    private volatile @Nullable String stall;
    private int holdersGone;

    RingPackets(RingReader ring, Outbound back, long socket) {
        this.ring = ring;
        this.back = back;
        this.socket = socket;
    }

    /**
     * Receives what is there, without a copy, as far as there is room. For the thread that reads.
     *
     * @param owner the channel: when it is unreachable, nobody can free what was received
     * @return bytes; 0 if nothing is there; -1 at the end of the stream; {@link #FULL}; {@link #BY_TCP}
     * @throws IOException as {@link Stream#read(java.nio.ByteBuffer)}
     */
    public static int receive(Stream stream, PacketHolder into, Object owner) throws IOException {
        Inbound in = stream.in();
        Outbound out = stream.out();
        if (in == null || out == null || !stream.isHandshakeComplete()) {
            return BY_TCP;
        }
        in.enterIfDue();
        RingReader reader = in.ring;
        if (reader == null || !in.isByRing() || in.leftover.hasRemaining()) {
            return BY_TCP;
        }
        RingPackets packets = reader.packets();
        if (packets == null) {
            packets = new RingPackets(reader, out, stream.number());
            packets.name = "received first at " + PacketLeaks.caller();
            PacketLeaks.watch(owner, packets);
            reader.packets(packets);
        }
        int n = reader.receive(packets, into);
        if (n > 0) {
            ResponseTimes.answered(stream.times);
            into.received(packets);
        }
        return n;
    }

    /** Of a connection; null if none were received from it. */
    public static @Nullable RingPackets of(Stream stream) {
        Inbound in = stream.in();
        RingReader reader = in == null ? null : in.ring;
        return reader == null ? null : reader.packets();
    }

    /**
     * Adds a packet of what is there to be read; this object's lock is held.
     *
     * @param at offset of the first byte in {@code of}
     * @param start its position
     * @return its bytes; 0 if there is no room
     */
    int take(PacketHolder into, Memory of, int at, int length, long start) {
        if (!into.hasRoom() || !window.hasRoom()) {
            return 0;
        }
        MemorySegment memory = view;
        if (memory == null || seen != of) {
            memory = of.segment().asReadOnly();
            view = memory;
            seen = of;
        }
        window.makeRoom(); // which may fail: nothing is held then
        ring.link().isHeld = true;
        return into.add(id(window.add(start)), memory, at, Math.min(length, MAX_PACKET));
    }

    private long id(int number) {
        return socket << Integer.SIZE | Integer.toUnsignedLong(number);
    }

    /** Keeps a ring that the reader leaves, if packets lie in it; false if it is to be given back. */
    synchronized boolean keeps(Memory old, long end) {
        if (window.released(end) >= end) {
            return false;
        }
        left.add(new Left(old, end));
        return true;
    }

    /** By which the peer is told. */
    Outbound back() {
        return back;
    }

    /** As {@link HeldPackets#released}; this object's lock is held. */
    long released(long position) {
        return window.released(position);
    }

    /** Frees a packet; false if it is none of this connection, or freed. */
    public synchronized boolean free(long id) {
        boolean mine = id >>> Integer.SIZE == (socket & 0xffff_ffffL) && window.free((int) id);
        if (mine) {
            giveBack();
        }
        return mine;
    }

    /** Frees packets; returns the index of the first one that is none of this connection, or freed; -1 if there is none. */
    public synchronized int free(long[] ids, int offset, int count) {
        int wrong = -1;
        boolean any = false;
        for (int i = offset; i < offset + count; i++) {
            boolean mine = ids[i] >>> Integer.SIZE == (socket & 0xffff_ffffL) && window.free((int) ids[i]);
            any |= mine;
            wrong = mine || wrong >= 0 ? wrong : i;
        }
        if (any) { // else the memory may be another connection's already
            giveBack();
        }
        return wrong;
    }

    /** Packets that are held. */
    public synchronized int held() {
        return window.held();
    }

    private void giveBack() {
        long released = ring.released();
        Left oldest;
        while ((oldest = left.peek()) != null && oldest.end <= released) {
            left.remove();
            ring.link().session.arena().free(oldest.ring);
        }
        ring.settle(back);
        if (window.held() == 0) { // last: the connection's memory may be given back then
            ring.link().isHeld = false;
        }
    }

    /** Where a channel's packets were received, for what is reported about them. */
    public synchronized void name(String connection) {
        name = connection + ", " + name;
    }

    /** The reader has found nothing new, and what is held fills the largest ring. */
    void stalled() {
        log(reportOfStall());
    }

    private synchronized @Nullable String reportOfStall() {
        if (stall != null || window.held() == 0) {
            return null;
        }
        stall = text("packets fill the rings", packets(window.held())
                + " held and the peer can write nothing: free the oldest, 0x"
                + Long.toHexString(id(window.first())) + ", first, by ExtraApi.freePackets");
        return stall;
    }

    /** Whether {@link #stalled} has reported. */
    boolean isStallKnown() {
        return stall != null;
    }

    /** A holder was collected: its last packets can be freed by their identifiers, if the program has those. */
    void holderGone(int first, int count) {
        log(reportOfHolder(first, count));
    }

    private synchronized @Nullable String reportOfHolder(int first, int count) {
        holdersGone++;
        int lost = 0;
        for (int i = 0; i < count; i++) {
            lost += window.isHeld(first + i) ? 1 : 0;
        }
        if (lost == 0 || hint != null) {
            return null;
        }
        hint = text("packets may leak", packets(lost)
                + " held whose ReceivedPackets the program has dropped: no leak if it has their identifiers, else "
                + "nothing can free them before the channel goes, and the peer may wait for their room");
        return hint;
    }

    /** The channel was collected. */
    void channelGone() {
        log(reportOfChannel());
    }

    private synchronized @Nullable String reportOfChannel() {
        if (window.held() == 0) {
            return null;
        }
        leak = text("packets leak", packets(window.held())
                + " held of a channel that is gone, so nothing can free them: their memory "
                + "is given back now. Free packets by ExtraApi.freePackets");
        window.clear();
        giveBack();
        return leak;
    }

    private static String packets(int count) {
        return count == 1 ? "1 packet is" : count + " packets are";
    }

    private String text(String kind, String what) {
        return kind + " of " + name + ": " + what;
    }

    /** Without the lock: a handler of the program may use sockets itself. */
    private static void log(@Nullable String found) {
        if (found != null) {
            StreamLog.warn(found);
        }
    }

    /** What was reported of packets that nothing can free, or else of those that stop the peer, or may be lost; null if nothing was. */
    public synchronized @Nullable String leak() {
        return leak != null ? leak : stall != null ? stall : hint;
    }

    /** Holders of its packets that were collected. */
    public synchronized int holdersGone() {
        return holdersGone;
    }
}
