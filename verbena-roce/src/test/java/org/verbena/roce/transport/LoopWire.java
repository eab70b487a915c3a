// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.Gid;

/** A wire to another one in the same thread that allocates nothing: for measuring the transport's allocation. */
final class LoopWire implements Wire {
    private static final int SLOTS = 1024;

    private final Gid own;
    private final MemorySegment memory = Arena.ofAuto().allocate((long) SLOTS * PACKET_ROOM, 64);
    private final int[] lengths = new int[SLOTS];
    private final ReceivedPacket received = new ReceivedPacket();
    /** Random loss, one in this many packets; 0 is none. */
    int loseOneOf;
    private int sent;
    private long head;
    private long tail;
    private LoopWire peer = this;
    private long now = 1;

    LoopWire(Gid own) {
        this.own = own;
    }

    static void join(LoopWire a, LoopWire b) {
        a.peer = b;
        b.peer = a;
    }

    private long slot(long index) {
        return RawMemory.addressOf(memory) + index % SLOTS * PACKET_ROOM;
    }

    @Override
    public long nanoTime() {
        return now += 1000;
    }

    @Override
    public int mtu() {
        return 4096;
    }

    private static final class LoopPath extends Path {
        LoopPath(Gid source, Gid destination) {
            super(source, 0, destination, 0, 0);
        }

        @Override
        public void close() {
            // holds nothing
        }
    }

    @Override
    public Path path(Gid source, int sourceGidIndex, Gid destination, int trafficClass, int flowLabel, int hopLimit) {
        return new LoopPath(source, destination);
    }

    @Override
    public long next() {
        return canSend() ? peer.slot(peer.tail) : 0;
    }

    @Override
    public void send(Path path, int sourcePort, int ecn, int length) {
        if (loseOneOf == 0 || ++sent % loseOneOf != 0) {
            peer.lengths[(int) (peer.tail++ % SLOTS)] = length;
        }
    }

    @Override
    public void flush() {
        // each packet is sent at once
    }

    @Override
    public boolean canSend() {
        return peer.tail - peer.head < SLOTS;
    }

    @Override
    public int receive(int limit, PacketHandler handler) {
        int n = 0;
        for (; n < limit && head < tail; n++) {
            received.address = slot(head);
            received.length = lengths[(int) (head % SLOTS)];
            received.sourceHigh = peer.own.high();
            received.sourceLow = peer.own.low();
            received.destinationHigh = own.high();
            received.destinationLow = own.low();
            handler.received(received);
            head++;
        }
        return n;
    }

    @Override
    public int receiveAll(int limit, PacketHandler handler) {
        return receive(limit, handler);
    }

    @Override
    public int descriptor() {
        return -1;
    }
}
