// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;

import org.verbena.stack.header.ArpPacket;
import org.verbena.stack.header.EthernetHeader;
import org.verbena.stack.header.Ipv4Header;
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
    /** Packets that wait for the addresses of hosts, of all; of a host the oldest gives way. */
    static final int WAITING = 64;

    private static final int ANNOUNCEMENTS = 2;
    private static final long ANNOUNCE_INTERVAL = 2_000_000_000L;
    private static final long NEVER = Long.MAX_VALUE;

    private final Wire wire;
    private final long mac;
    private final Ipv4Address address;
    private final Counts counts;
    private final Entry[] entries = new Entry[MOST];
    private final NumberMap<Entry> byAddress = new NumberMap<>();
    private int size;
    private int waiting;
    /** No entry has anything to do before. */
    private long deadline = NEVER;
    /** How often the own address is still to be told, and when next. */
    private int announcements;
    private long announceAt;

    Neighbours(Wire wire, long mac, Ipv4Address address, Counts counts) {
        this.wire = wire;
        this.mac = mac;
        this.address = address;
        this.counts = counts;
    }

    private static final class Entry {
        final int address;
        final ArrayDeque<SendFrame> waiting = new ArrayDeque<>(2);
        long mac;
        boolean known;
        /** Requests that have not been answered. */
        int asked;
        /** When to ask again or give up, while asked for; else until when the address is good. */
        long due;
        /** When it was sent to last, or told its address. */
        long used;

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
        e.used = now;
        if (e.known) {
            transmit(f, bytes, e.mac);
        } else {
            hold(e, f);
        }
    }

    /** Sends a frame to an Ethernet address. */
    void transmit(SendFrame f, int bytes, long to) throws IOException {
        EthernetHeader.write(f.memory(), f.at(), to, mac, EthernetHeader.IPV4);
        counts.framesOut++;
        wire.send(f, bytes);
    }

    private void hold(Entry e, SendFrame f) {
        if (waiting == WAITING) {
            counts.unresolved++;
            SendFrame oldest = e.waiting.poll();
            if (oldest == null) {
                wire.giveBack(f);
                return;
            }
            wire.giveBack(oldest);
            waiting--;
        }
        e.waiting.add(f);
        waiting++;
    }

    private Entry create(int to, long now) {
        if (size == MOST) {
            removeLeastUsed(now);
        }
        Entry e = new Entry(to);
        e.used = now;
        entries[size++] = e;
        byAddress.put(to, e);
        return e;
    }

    /** Makes room: one that has not answered goes before those that have, and of these the one that was not used for the longest. */
    private void removeLeastUsed(long now) {
        int worst = 0;
        for (int i = 1; i < size; i++) {
            Entry a = entries[i];
            Entry b = entries[worst];
            if (a.known != b.known ? b.known : a.used - now < b.used - now) {
                worst = i;
            }
        }
        remove(worst);
    }

    /** Makes room among those that are old and not used; true if there was one. */
    private boolean removeUnused(long now) {
        for (int i = 0; i < size; i++) {
            Entry e = entries[i];
            if (e.known && e.asked == 0 && now - e.due >= 0 && now - e.used >= REACHABLE) {
                remove(i);
                return true;
            }
        }
        return false;
    }

    private void remove(int i) {
        Entry e = entries[i];
        counts.unresolved += e.waiting.size();
        waiting -= e.waiting.size();
        e.waiting.forEach(wire::giveBack);
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
        ArpPacket.write(f.memory(), f.at() + EthernetHeader.BYTES, operation, mac, address.address(), targetMac,
                target);
        counts.framesOut++;
        wire.send(f, EthernetHeader.BYTES + ArpPacket.BYTES);
    }

    /** Tells all of the own address from now on, twice (RFC 5227, 2.3): who knew another host by it learns. */
    void announce(long now) {
        announcements = ANNOUNCEMENTS;
        announceAt = now;
    }

    private long workOnAnnouncements(long now) throws IOException {
        if (announcements > 0 && now - announceAt >= 0) {
            announcements--;
            announceAt = now + ANNOUNCE_INTERVAL;
            say(EthernetHeader.BROADCAST, ArpPacket.REQUEST, 0, address.address());
        }
        return announcements > 0 ? announceAt : NEVER;
    }

    /** Takes a packet of ARP that was checked. */
    void heard(MemorySegment m, long at, long now) throws IOException {
        long from = ArpPacket.senderMac(m, at);
        int sender = ArpPacket.sender(m, at);
        if (EthernetHeader.isGroup(from) || from == mac) {
            counts.malformed++;
            return;
        }
        if (sender == address.address()) {
            counts.conflicts++;
            return;
        }
        boolean forUs = ArpPacket.target(m, at) == address.address();
        Entry e = byAddress.get(sender);
        // A request tells who is about to send to us; a flood of them does not drive out those that we have asked for.
        if (e == null && forUs && address.isHost(sender) && address.isNear(sender) && (size < MOST / 2 || removeUnused(
                now))) {
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
        for (SendFrame f = e.waiting.poll(); f != null; f = e.waiting.poll()) {
            waiting--;
            transmit(f, EthernetHeader.BYTES + Ipv4Header.totalBytes(f.memory(), f.at() + EthernetHeader.BYTES), from);
        }
    }

    /** Asks again for what was not answered, or gives up; answers when to call again. */
    long work(long now) throws IOException {
        return Math.min(workOnAnnouncements(now), workOnEntries(now));
    }

    private long workOnEntries(long now) throws IOException {
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
