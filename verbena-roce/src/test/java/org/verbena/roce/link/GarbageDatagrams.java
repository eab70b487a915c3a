// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.link;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.UdpDestination;
import org.verbena.linux.UdpSendBatch;
import org.verbena.linux.UdpSocket;
import org.verbena.linux.spi.RawMemory;
import org.verbena.roce.transport.ReceivedPacket;
import org.verbena.roce.transport.Wire;

/**
 * Datagrams of any length, singly or segmented, through the kernel's loopback to a receiver: intact packets, damaged
 * ones, truncated ones and noise. Intact ones arrive unchanged and in order, others are counted, and nothing throws. In
 * IPv4 a damaged packet may pass for one with another identification.
 */
final class GarbageDatagrams implements AutoCloseable {
    /** Less than the smallest buffer of the sockets, with the kernel's overhead for each datagram. */
    private static final int MOST_BYTES = 48 * 1024;
    private static final int MOST = 48;
    private static final int LONGEST = Wire.PACKET_ROOM + Icrc.BYTES;
    /** The most bytes that are missing from a truncated packet. */
    private static final int MOST_CUT = 64;
    private static final int BUFFER = 1 << 20;
    private static final long PATIENCE_NANOS = 20_000_000_000L;
    private static final HexFormat HEX = HexFormat.of();

    /** The kind of a datagram. */
    private enum Kind {
        WHOLE,
        /** With an identification that the receiver does not see: IPv4 only. */
        IDENTIFIED,
        /** Bits differ from those of the CRC's computation. */
        DAMAGED,
        /** The end is missing. */
        CUT,
        NOISE
    }

    /** A sender's and a receiver's socket of one family, and whether the receiver coalesces. */
    private static final class Way implements AutoCloseable {
        final boolean ip4;
        final UdpSocket from;
        final UdpSocket to;
        final int fromPort;
        final int toPort;
        final UdpDestination destination;
        final WireCounts counts = new WireCounts();
        final PacketReceiver receiver;
        final UdpSendBatch batch = new UdpSendBatch(MOST, Icrc.HEADROOM, LONGEST + Icrc.BYTES + MOST_CUT);
        final Icrc icrc = new Icrc(batch.memory());

        Way(String address, boolean coalesced) throws LinuxException {
            InetAddress a = InetAddress.ofLiteral(address);
            ip4 = a.getAddress().length == 4;
            from = UdpSocket.bind(a, 0, 0);
            to = UdpSocket.bind(a, 0, 0);
            fromPort = from.port();
            toPort = to.port();
            to.setBuffers(BUFFER, BUFFER);
            if (coalesced && !to.coalesce()) {
                throw new LinuxException("setsockopt(UDP_GRO)", Errno.ENOPROTOOPT);
            }
            destination = UdpDestination.of(a, toPort);
            receiver = new PacketReceiver(toPort, coalesced, counts);
            receiver.setSockets(to);
        }

        int crc(int at, int length, int identification) {
            long packet = batch.memory().address() + at;
            if (ip4) {
                PseudoHeader.put4(packet, 0x7f000001, 0x7f000001, fromPort, toPort, length + Icrc.BYTES,
                        identification);
                return icrc.of(at, length, PseudoHeader.BYTES_4);
            }
            PseudoHeader.put6(packet, 0, 1, 0, 1, fromPort, toPort, length + Icrc.BYTES);
            return icrc.of(at, length, PseudoHeader.BYTES_6);
        }

        @Override
        public void close() {
            from.close();
            to.close();
        }
    }

    private final List<Way> ways = new ArrayList<>();
    /** Packets that arrived. */
    int arrived;
    /** Datagrams that were dropped. */
    int dropped;
    /** Packets that were accepted and not intact: IPv4 only, where the CRC checks 16 bits. */
    int mistaken;
    /** Datagrams that passed the kernel coalesced with an earlier one. */
    int together;

    GarbageDatagrams() throws LinuxException {
        for (String address : new String[] {"127.0.0.1", "::1"}) {
            for (boolean coalesced : new boolean[] {true, false}) {
                ways.add(new Way(address, coalesced));
            }
        }
    }

    /** Sends one batch of random datagrams, and checks what arrives. */
    void run(Random random, BooleanSupplier over) {
        int which = random.nextInt(2 * ways.size());
        Way w = ways.get(which % ways.size());
        w.batch.setSegmenting(which < ways.size());
        List<String> whole = new ArrayList<>();
        int size = 0;
        int bytes = 0;
        int length = Icrc.BYTES + 12;
        while (size < MOST && !over.getAsBoolean()) {
            length = length(random, length);
            bytes += length;
            if (bytes > MOST_BYTES) {
                break;
            }
            add(random, w, length, whole);
            size++;
        }
        if (size > 0) {
            send(w);
            receive(w, size, whole, 1 + random.nextInt(64));
        }
    }

    /** Mostly as before, so that they pass as one segmented message; the last one may be shorter. */
    private static int length(Random random, int before) {
        int n = random.nextInt(256);
        return n < 160
                ? before
                : n < 200
                        ? Math.max(1, before - (n - 160))
                        : n < 250 ? 1 + 4 * (n - 200) : 1 + random.nextInt(LONGEST + Icrc.BYTES);
    }

    private void add(Random random, Way w, int length, List<String> whole) {
        int at = w.batch.next();
        Kind kind = Kind.values()[random.nextInt(Kind.values().length)];
        int packet = length - Icrc.BYTES;
        boolean canBeWhole = packet >= 12 && packet <= Wire.PACKET_ROOM;
        int missing = canBeWhole && kind == Kind.CUT ? 1 + random.nextInt(MOST_CUT) : 0;
        MemorySegment m = w.batch.memory().asSlice(at, length + missing);
        int seed = random.nextInt(256);
        for (int i = 0; i < length + missing; i++) {
            m.set(ValueLayout.JAVA_BYTE, i, (byte) (i == 0 ? seed : seed * 31 + i * 7 + (i >> 8)));
        }
        if (!canBeWhole || kind == Kind.NOISE) {
            // too short for a CRC
        } else if (kind == Kind.CUT) {
            put(w, at, packet + missing, 0);
        } else if (kind == Kind.DAMAGED) {
            put(w, at, packet, 0);
            int bit = random.nextInt(packet * Byte.SIZE);
            int damaged = bit / Byte.SIZE == 4 ? 5 : bit / Byte.SIZE; // routers may change that one
            m.set(ValueLayout.JAVA_BYTE, damaged, (byte) (m.get(ValueLayout.JAVA_BYTE, damaged) ^ 1 << bit
                    % Byte.SIZE));
        } else {
            put(w, at, packet, kind == Kind.IDENTIFIED ? random.nextInt(0x10000) : 0);
            whole.add(HEX.formatHex(m.asSlice(0, packet).toArray(ValueLayout.JAVA_BYTE)));
        }
        together += w.batch.add(w.from, w.destination, 0, length) > 0 ? 1 : 0;
    }

    private static void put(Way w, int at, int packet, int identification) {
        RawMemory.putIntUnaligned(w.batch.memory().address() + at + packet, w.crc(at, packet, identification));
    }

    private static void send(Way w) {
        int error = w.batch.send();
        if (error != 0) {
            throw new AssertionError("not sent: errno " + error);
        }
    }

    private void receive(Way w, int size, List<String> whole, int limit) {
        List<String> got = new ArrayList<>();
        long before = w.counts.received + w.counts.malformed + w.counts.icrcErrors;
        int taken = 0;
        for (long end = System.nanoTime() + PATIENCE_NANOS; taken < size;) {
            taken += w.receiver.receive(limit, (ReceivedPacket p) -> got.add(HEX.formatHex(RawMemory.segment(p.address,
                    p.length).toArray(ValueLayout.JAVA_BYTE))));
            if (System.nanoTime() - end > 0) {
                throw new AssertionError(taken + " of " + size + " datagrams");
            }
        }
        long counted = w.counts.received + w.counts.malformed + w.counts.icrcErrors - before;
        if (taken != size || counted != size || w.receiver.receive(limit, p -> got.add("one more")) != 0) {
            throw new AssertionError("of " + size + " datagrams " + taken + " were taken, " + counted + " counted");
        }
        int next = 0;
        for (String packet : got) {
            if (next < whole.size() && packet.equals(whole.get(next))) {
                next++;
            } else if (w.ip4) {
                mistaken++;
            } else {
                throw new AssertionError("a packet that was not sent: " + packet);
            }
        }
        if (next < whole.size()) {
            throw new AssertionError("missing: " + whole.get(next));
        }
        arrived += got.size();
        dropped += size - got.size();
    }

    @Override
    public void close() {
        ways.forEach(Way::close);
    }
}
