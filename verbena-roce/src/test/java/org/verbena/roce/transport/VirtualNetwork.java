// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.function.Consumer;

import org.verbena.linux.spi.RawMemory;
import org.verbena.roce.header.Bth;
import org.verbena.roce.link.CheckedPackets;
import org.verbena.verbs.Gid;

/** Wires in virtual time, over which packets are lost, duplicated, delayed and reordered by a seed. */
final class VirtualNetwork {
    /**
     * For each packet, in percent. In a corrupt packet some bits are flipped, and the ICRC decides whether it is
     * accepted.
     */
    record Faults(int drop, int duplicate, int reorder, int corrupt, int delay) {
        static final Faults NONE = new Faults(0, 0, 0, 0, 0);
        static final Faults ALL = new Faults(10, 10, 10, 10, 10);
    }

    private static final class Flight {
        final long at;
        final long order;
        final Gid from;
        final Gid to;
        final byte[] bytes;
        final int ecn;

        Flight(long at, long order, Gid from, Gid to, byte[] bytes, int ecn) {
            this.at = at;
            this.order = order;
            this.from = from;
            this.to = to;
            this.bytes = bytes;
            this.ecn = ecn;
        }
    }

    private static final long LATENCY_NANOS = 5_000;
    private static final long LATE_NANOS = 3_000_000;
    private static final int MOST_BITS = 3;

    private final Random random;
    private final PriorityQueue<Flight> flights = new PriorityQueue<>(Comparator
            .<Flight>comparingLong(f -> f.at).thenComparingLong(f -> f.order));
    private final CheckedPackets crc = new CheckedPackets();
    private long now = 1_000_000;
    private long order;
    Faults faults = Faults.NONE;
    /** Packets that {@link Wire#receive} takes at most, though there may be more. */
    int batch = Integer.MAX_VALUE;
    /** Packets that were damaged in flight, and detected by their ICRC. */
    int corrupted;
    /** Sees each packet that was sent, before any fault is applied. */
    Consumer<byte[]> tap = seen -> {};

    VirtualNetwork(Random random) {
        this.random = random;
    }

    long now() {
        return now;
    }

    /** When the next packet arrives; {@link Long#MAX_VALUE} if none is in flight. */
    long nextArrival() {
        Flight f = flights.peek();
        return f == null ? Long.MAX_VALUE : f.at;
    }

    void advanceTo(long time) {
        now = Math.max(now, time);
    }

    private boolean happens(int percent) {
        return random.nextInt(100) < percent;
    }

    private void send(Gid from, Gid to, byte[] bytes, int ecn) {
        tap.accept(bytes.clone());
        for (int copies = happens(faults.duplicate) ? 2 : 1; copies > 0; copies--) {
            byte[] arriving = bytes;
            if (happens(faults.drop)) {
                continue;
            }
            if (happens(faults.corrupt)) {
                byte[] damaged = damaged(crc.withCrc(from, to, bytes));
                if (!crc.isIntact(from, to, damaged)) {
                    corrupted++;
                    continue;
                }
                arriving = Arrays.copyOf(damaged, bytes.length); // it would pass as the packet that was sent
            }
            long at = now + LATENCY_NANOS;
            if (happens(faults.reorder)) {
                at += random.nextInt(20_000);
            }
            if (happens(faults.delay)) {
                at += random.nextLong(LATE_NANOS);
            }
            flights.add(new Flight(at, order++, from, to, arriving, ecn));
        }
    }

    /** With one to three bits flipped, but none that a router may change. */
    private byte[] damaged(byte[] packet) {
        byte[] p = packet.clone();
        for (int n = 1 + random.nextInt(MOST_BITS); n > 0; n--) {
            int bit = random.nextInt((p.length - 1) * Byte.SIZE);
            int at = bit / Byte.SIZE < CheckedPackets.UNCHECKED ? bit / Byte.SIZE : bit / Byte.SIZE + 1;
            p[at] ^= (byte) (1 << bit % Byte.SIZE);
        }
        return Arrays.equals(p, packet) ? damaged(packet) : p; // two flips of one bit
    }

    /** A packet from outside the simulation, which arrives at once. */
    void inject(Gid from, Gid to, byte[] bytes) {
        flights.add(new Flight(now, order++, from, to, bytes, 0));
    }

    /** The same, marked by a router. */
    void injectMarked(Gid from, Gid to, byte[] bytes) {
        flights.add(new Flight(now, order++, from, to, bytes, Wire.ECN_CONGESTION));
    }

    Wire wire(Gid own) {
        return new End(own);
    }

    private static final class VirtualPath extends Path {
        VirtualPath(Gid source, Gid destination, int trafficClass, int flowLabel) {
            super(source, 0, destination, trafficClass, flowLabel);
        }

        @Override
        public void close() {
            // holds nothing
        }
    }

    private final class End implements Wire {
        private final Gid own;
        private final MemorySegment out = Arena.ofAuto().allocate(PACKET_ROOM, 64);
        private final MemorySegment in = Arena.ofAuto().allocate(PACKET_ROOM, 64);
        private final ReceivedPacket received = new ReceivedPacket();

        End(Gid own) {
            this.own = own;
        }

        @Override
        public long nanoTime() {
            return now;
        }

        @Override
        public int mtu() {
            return 4096;
        }

        @Override
        public Path path(Gid source, int sourceGidIndex, Gid destination, int trafficClass, int flowLabel,
                int hopLimit) {
            return new VirtualPath(source, destination, trafficClass, flowLabel);
        }

        @Override
        public long next() {
            return out.address();
        }

        @Override
        public void send(Path path, int sourcePort, int ecn, int length) {
            if (length < Bth.BYTES || length > PACKET_ROOM || (length & 3) != 0) {
                throw new AssertionError("a packet of " + length + " bytes");
            }
            VirtualNetwork.this.send(own, path.destination(), out.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE),
                    ecn);
        }

        @Override
        public void flush() {
            // each packet is sent at once
        }

        @Override
        public boolean canSend() {
            return true;
        }

        @Override
        public int receive(int limit, PacketHandler handler) {
            return receiveAll(Math.min(limit, batch), handler);
        }

        @Override
        public int receiveAll(int limit, PacketHandler handler) {
            int n = 0;
            for (Flight f = flights.peek(); n < limit && f != null && f.at <= now && reaches(f); f = flights.peek()) {
                flights.remove();
                n++;
                MemorySegment.copy(f.bytes, 0, in, ValueLayout.JAVA_BYTE, 0, f.bytes.length);
                received.address = RawMemory.addressOf(in);
                received.length = f.bytes.length;
                received.sourceHigh = f.from.high();
                received.sourceLow = f.from.low();
                received.destinationHigh = f.to.high();
                received.destinationLow = f.to.low();
                received.trafficClass = f.ecn;
                received.hopLimit = 64;
                handler.received(received);
            }
            return n;
        }

        private boolean reaches(Flight f) {
            return f.to.equals(own) || f.to.isMulticast() && !f.from.equals(own);
        }

        @Override
        public int descriptor() {
            return -1;
        }
    }
}
