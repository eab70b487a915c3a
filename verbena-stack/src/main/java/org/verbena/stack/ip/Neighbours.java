// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.io.IOException;
import java.util.ArrayDeque;

import org.verbena.stack.header.EthernetHeader;
import org.verbena.stack.header.Ipv4Header;
import org.verbena.stack.header.Ipv6Header;
import org.verbena.stack.wire.SendFrame;
import org.verbena.stack.wire.Wire;

/**
 * The Ethernet addresses of the hosts of the link, of one version of IP, and the packets that wait for one. What an entry goes through is that of RFC 4861,
 * 7.3, for IPv4, too: asked for three times with a second between, then good for 30 s; after that it is used on, and its use has it asked for again.
 */
final class Neighbours {
    /** As many as the kernel keeps ({@code gc_thresh3}). */
    static final int MOST = 1024;
    static final int TRIES = 3;
    static final long RETRY = 1_000_000_000L;
    static final long REACHABLE = 30_000_000_000L;
    /** Packets that wait for the addresses of hosts, of all; of a host the oldest gives way. */
    static final int WAITING = 64;

    private static final long NEVER = Long.MAX_VALUE;

    private final Wire wire;
    private final Ip ip;
    private final Counts counts;
    private final int type;
    private final long delay;
    private final Question question;
    private final Entry[] entries = new Entry[MOST];
    private final AddressMap<Entry> byAddress;
    private int size;
    private int waiting;
    /** No entry has anything to do before. */
    private long deadline = NEVER;

    /** Asks for the Ethernet address of a host of the link. */
    interface Question {
        /** Asks the host that had an Ethernet address, or all if that is 0. */
        void ask(long mac, long high, long low, long now) throws IOException;

        /** A host has not answered. */
        default void failed(long high, long low, long now) {}
    }

    /** With {@code delay} nanoseconds between the first use of an entry that is old and the question for it. */
    Neighbours(Ip ip, int type, long delay, Question question) {
        wire = ip.wire;
        this.ip = ip;
        counts = ip.counts;
        byAddress = new AddressMap<>(ip.random);
        this.type = type;
        this.delay = delay;
        this.question = question;
    }

    private static final class Entry {
        final long high;
        final long low;
        final ArrayDeque<SendFrame> waiting = new ArrayDeque<>(2);
        long mac;
        boolean known;
        /** It was used after its time, and will be asked for unless something tells before that it is there. */
        boolean delayed;
        /** Requests that have not been answered. */
        int asked;
        /** When to ask, ask again or give up, while it is delayed or asked for; else until when the address is good. */
        long due;
        /** When it was made, or sent to last. */
        long used;

        Entry(long high, long low) {
            this.high = high;
            this.low = low;
        }
    }

    /** Sends a frame, whose IP packet is in its place, to a host of this link, at once or when its address is known. */
    void send(SendFrame f, int bytes, long high, long low, long now) throws IOException {
        Entry e = byAddress.get(high, low);
        if (e == null) {
            e = create(high, low, now);
            ask(e, now);
        } else if (e.known && e.asked == 0 && !e.delayed && now - e.due >= 0) {
            if (delay == 0) {
                ask(e, now);
            } else {
                e.delayed = true;
                e.due = now + delay;
                deadline = Math.min(deadline, e.due);
            }
        }
        e.used = now;
        if (e.known) {
            ip.transmit(f, bytes, e.mac, type);
        } else {
            hold(e, f);
        }
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

    private Entry create(long high, long low, long now) {
        if (size == MOST) {
            removeLeastUsed(now);
        }
        Entry e = new Entry(high, low);
        e.used = now;
        entries[size++] = e;
        byAddress.put(high, low, e);
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
            if (e.known && e.asked == 0 && !e.delayed && now - e.due >= 0 && now - e.used >= REACHABLE) {
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
        byAddress.remove(e.high, e.low);
        entries[i] = entries[--size];
    }

    /** Asks all for an address that is not known, and its last owner for one that was. */
    private void ask(Entry e, long now) throws IOException {
        e.delayed = false;
        e.asked++;
        e.due = now + RETRY;
        deadline = Math.min(deadline, e.due);
        question.ask(e.known ? e.mac : 0, e.high, e.low, now);
    }

    /**
     * A host that there is an entry for has told its Ethernet address.
     *
     * @param answer whether that answers a question, so that the host is there now
     * @param override whether it takes the place of another address (RFC 4861, 7.2.5); else the host is asked whether that is good still
     */
    void heard(long high, long low, long from, boolean answer, boolean override, long now) throws IOException {
        Entry e = byAddress.get(high, low);
        if (e == null) {
            return;
        }
        if (!e.known || override || e.mac == from) {
            learn(e, from, answer, now);
        } else if (e.asked == 0 && !e.delayed) {
            e.due = Math.min(e.due, now);
        }
    }

    /** A host has told its Ethernet address since it is about to send here. A flood of such does not drive out those that were asked for. */
    void met(long high, long low, long from, boolean isThere, long now) throws IOException {
        Entry e = byAddress.get(high, low);
        if (e == null && (size < MOST / 2 || removeUnused(now))) {
            e = create(high, low, now);
        }
        if (e != null && (isThere || !e.known || e.mac != from)) {
            learn(e, from, isThere, now);
        }
    }

    private void learn(Entry e, long from, boolean isThere, long now) throws IOException {
        e.mac = from;
        e.known = true;
        e.delayed = false;
        e.asked = 0;
        e.due = isThere ? now + REACHABLE : now;
        for (SendFrame f = e.waiting.poll(); f != null; f = e.waiting.poll()) {
            waiting--;
            ip.transmit(f, EthernetHeader.BYTES + packetBytes(f), from, type);
        }
    }

    /** A host that there is an entry for is there, as its answer without an address tells. */
    void confirmed(long high, long low, long now) {
        Entry e = byAddress.get(high, low);
        if (e != null && e.known) {
            e.delayed = false;
            e.asked = 0;
            e.due = now + REACHABLE;
        }
    }

    private int packetBytes(SendFrame f) {
        long at = f.at() + EthernetHeader.BYTES;
        return type == EthernetHeader.IPV4
                ? Ipv4Header.totalBytes(f.memory(), at)
                : Ipv6Header.BYTES + Ipv6Header.payloadBytes(f.memory(), at);
    }

    /** Asks again for what was not answered, or gives up; answers when to call again. */
    long work(long now) throws IOException {
        if (deadline == NEVER || now - deadline < 0) {
            return deadline;
        }
        deadline = NEVER;
        for (int i = size - 1; i >= 0; i--) {
            Entry e = entries[i];
            if (e.asked == 0 && !e.delayed) {
                continue;
            }
            if (now - e.due < 0) {
                deadline = Math.min(deadline, e.due);
            } else if (e.asked < TRIES) {
                ask(e, now);
            } else {
                remove(i);
                question.failed(e.high, e.low, now);
            }
        }
        return deadline;
    }
}
