// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

import org.verbena.stack.header.ArpPacket;
import org.verbena.stack.header.EthernetHeader;
import org.verbena.stack.wire.SendFrame;
import org.verbena.stack.wire.Wire;
import org.verbena.verbs.spi.NumberMap;

/**
 * The Ethernet addresses of the hosts of the link, by ARP (RFC 826), and the packets that wait for one. What an entry goes through is that of RFC 4861,
 * 7.3: asked for three times with a second between, then good for 30 s; after that it is used on, and who uses it has it asked for again.
 */
public final class Neighbours {
    /** As many as the kernel keeps ({@code gc_thresh3}). */
    static final int MOST = 1024;
    static final int TRIES = 3;
    static final long RETRY = 1_000_000_000L;
    static final long REACHABLE = 30_000_000_000L;
    /** Packets that wait for one neighbor; the oldest gives way. */
    static final int WAITING = 4;

    private static final long NEVER = Long.MAX_VALUE;

    private final Wire wire;
    private final long mac;
    private final int address;
    private final Counts counts;
    private final Entry[] entries = new Entry[MOST];
    private final NumberMap<Entry> byAddress = new NumberMap<>();
    private int size;
    /** No entry has anything to do before. */
    private long deadline = NEVER;

    Neighbours(Wire wire, long mac, int address, Counts counts) {
        this.wire = wire;
        this.mac = mac;
        this.address = address;
        this.counts = counts;
    }

    private static final class Entry {
        final int address;
        final SendFrame[] waiting = new SendFrame[WAITING];
        final int[] bytes = new int[WAITING];
        int waits;
        long mac;
        boolean known;
        /** Requests that have not been answered. */
        int asked;
        /** When to ask again or give up, while asked for; else until when the address is good. */
        long due;

        Entry(int address) {
            this.address = address;
        }
    }

    /** Sends a frame, whose IP packet is in its place, to a host of this link, at once or when its address is known. */
    void send(SendFrame f, int bytes, int to, long now) throws IOException {
        Entry e = byAddress.get(to);
        if (e == null) {
            e = create(to, now);
            ask(e, now);
        } else if (e.known && e.asked == 0 && now - e.due >= 0) {
            ask(e, now);
        }
        if (e.known) {
            transmit(f, bytes, e.mac);
        } else {
            hold(e, f, bytes);
        }
    }

    /** Sends a frame to an Ethernet address. */
    void transmit(SendFrame f, int bytes, long to) throws IOException {
        EthernetHeader.write(f.memory(), f.at(), to, mac, EthernetHeader.IPV4);
        counts.framesOut++;
        wire.send(f, bytes);
    }

    private void hold(Entry e, SendFrame f, int bytes) {
        if (e.waits == WAITING) {
            wire.giveBack(e.waiting[0]);
            counts.unresolved++;
            e.waits--;
            System.arraycopy(e.waiting, 1, e.waiting, 0, e.waits);
            System.arraycopy(e.bytes, 1, e.bytes, 0, e.waits);
        }
        e.waiting[e.waits] = f;
        e.bytes[e.waits++] = bytes;
    }

    private Entry create(int to, long now) {
        if (size == MOST) {
            removeOldest(now);
        }
        Entry e = new Entry(to);
        entries[size++] = e;
        byAddress.put(to, e);
        return e;
    }

    /** Makes room: of those known the one that was for the longest, else the one that is asked for the longest. */
    private void removeOldest(long now) {
        int worst = 0;
        for (int i = 1; i < size; i++) {
            Entry a = entries[i];
            Entry b = entries[worst];
            if (a.known != b.known ? a.known : a.due - now < b.due - now) {
                worst = i;
            }
        }
        remove(worst);
    }

    private void remove(int i) {
        Entry e = entries[i];
        counts.unresolved += e.waits;
        while (e.waits > 0) {
            wire.giveBack(e.waiting[--e.waits]);
        }
        byAddress.remove(e.address);
        entries[i] = entries[--size];
    }

    /** Asks all for an address that is not known, and its last owner for one that was. */
    private void ask(Entry e, long now) throws IOException {
        e.asked++;
        e.due = now + RETRY;
        deadline = Math.min(deadline, e.due);
        say(e.known ? e.mac : EthernetHeader.BROADCAST, ArpPacket.REQUEST, 0, e.address);
    }

    private void say(long to, int operation, long targetMac, int target) throws IOException {
        SendFrame f = wire.acquire();
        if (f == null) {
            counts.noBuffer++;
            return;
        }
        EthernetHeader.write(f.memory(), f.at(), to, mac, EthernetHeader.ARP);
        ArpPacket.write(f.memory(), f.at() + EthernetHeader.BYTES, operation, mac, address, targetMac, target);
        counts.framesOut++;
        wire.send(f, EthernetHeader.BYTES + ArpPacket.BYTES);
    }

    /** Takes a packet of ARP that was checked. */
    void heard(MemorySegment m, long at, long now) throws IOException {
        long from = ArpPacket.senderMac(m, at);
        int sender = ArpPacket.sender(m, at);
        if (EthernetHeader.isGroup(from) || from == mac) {
            counts.malformed++;
            return;
        }
        if (sender == address) {
            counts.conflicts++;
            return;
        }
        boolean forUs = ArpPacket.target(m, at) == address;
        Entry e = byAddress.get(sender);
        // A request tells who is about to send to us; a flood of them does not drive out those that we have asked for.
        if (e == null && forUs && sender != 0 && size < MOST / 2) {
            e = create(sender, now);
        }
        if (e != null) {
            learn(e, from, now);
        }
        if (forUs && ArpPacket.operation(m, at) == ArpPacket.REQUEST) {
            say(from, ArpPacket.REPLY, from, sender);
        }
    }

    private void learn(Entry e, long from, long now) throws IOException {
        e.mac = from;
        e.known = true;
        e.asked = 0;
        e.due = now + REACHABLE;
        for (int i = 0; i < e.waits; i++) {
            transmit(e.waiting[i], e.bytes[i], from);
        }
        e.waits = 0;
    }

    /** Asks again for what was not answered, or gives up; answers when to call again. */
    long work(long now) throws IOException {
        if (deadline == NEVER || now - deadline < 0) {
            return deadline;
        }
        deadline = NEVER;
        for (int i = size - 1; i >= 0; i--) {
            Entry e = entries[i];
            if (e.asked == 0) {
                continue;
            }
            if (now - e.due < 0) {
                deadline = Math.min(deadline, e.due);
            } else if (e.asked < TRIES) {
                ask(e, now);
            } else {
                remove(i);
            }
        }
        return deadline;
    }

    /** The Ethernet address of a host, or -1; for tests. */
    long find(int ip) {
        Entry e = byAddress.get(ip);
        return e == null || !e.known ? -1 : e.mac;
    }
}
