// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.spi.RawMemory;
import org.verbena.roce.header.Aeth;
import org.verbena.roce.header.BigEndian;
import org.verbena.roce.header.Bth;
import org.verbena.roce.header.PacketOpcode;

/**
 * Responses of a responder that are more than an ACK: to READs, atomics, flushes and atomic writes. The latest ones are
 * kept to be replayed for a duplicate request (IBTA volume 1, 9.7.4.1.3.1), as many as the peer may have outstanding.
 */
final class ResponderResources {
    /** The kind of a response. */
    enum Kind {
        /** Memory, read again each time the response is sent. */
        READ,
        /** The previous value. */
        ATOMIC,
        /** Empty: a READ response without payload. */
        EMPTY
    }

    private static final class Slot {
        boolean used;
        /** All of it was sent once. */
        boolean sent;
        Kind kind = Kind.EMPTY;
        long first;
        int packets;
        int msn;
        @Nullable Memory memory;
        long address;
        int rkey;
        long length;
        long value;
        /** What is to be sent: the first and the next packet, and the offset of the end. */
        int start;
        int next;
        long end;
    }

    private final ReliableQueuePair qp;
    private Slot[] slots = new Slot[0];
    private int newest;
    /** Slots in the order in which their responses are sent. */
    private int[] queue = new int[0];
    private int queued;
    private long failedSequence;

    ResponderResources(ReliableQueuePair qp) {
        this.qp = qp;
    }

    /** Sets the number of requests that are kept; control path. */
    void setDepth(int n) {
        slots = new Slot[n];
        for (int i = 0; i < n; i++) {
            slots[i] = new Slot();
        }
        queue = new int[n];
        queued = 0;
        newest = 0;
    }

    int depth() {
        return slots.length;
    }

    void clear() {
        queued = 0;
        for (Slot s : slots) {
            s.used = false;
            s.memory = null;
        }
    }

    void clearQueue() {
        queued = 0;
    }

    /**
     * True if as many requests as were negotiated wait for their responses: one more is a violation (9.4.4, 9.7.4.1.3).
     * A response that is only to be replayed does not count, since a requester that sends a new request has received
     * it.
     */
    boolean isFull() {
        Slot oldest = slots[(newest + 1) % slots.length];
        return oldest.used && !oldest.sent;
    }

    /**
     * Adds a new request: its response is kept, and sent after the queued ones.
     *
     * @param value the result of an atomic
     * @return false if no requests of this kind were negotiated
     */
    boolean add(Kind kind, long first, int packets, int msn, Memory memory, long address, int rkey, long length,
            long value) {
        if (slots.length == 0) {
            return false;
        }
        newest = (newest + 1) % slots.length;
        Slot s = slots[newest];
        dequeue(newest); // a duplicate
        s.used = true;
        s.sent = false;
        s.kind = kind;
        s.first = first;
        s.packets = packets;
        s.msn = msn;
        s.memory = memory;
        s.address = address;
        s.rkey = rkey;
        s.length = length;
        s.value = value;
        s.start = 0;
        s.next = 0;
        s.end = kind == Kind.READ ? length : 0;
        queue[queued++] = newest;
        return true;
    }

    /**
     * Replays the response to a duplicate READ, whole or its rest; false if it is not among those kept (9.7.4.1.3.1).
     */
    boolean replayRead(long sequence, long address, int rkey, long length) {
        for (int i = 0; i < slots.length; i++) {
            Slot s = slots[i];
            if (!s.used || s.kind != Kind.READ || sequence < s.first || sequence >= s.first + s.packets) {
                continue;
            }
            int start = (int) (sequence - s.first);
            long offset = (long) start * qp.mtu;
            if (rkey != s.rkey || address != s.address + offset || length > s.length - offset) {
                return false;
            }
            s.start = start;
            s.next = start;
            s.end = offset + length;
            enqueue(i);
            return true;
        }
        return false;
    }

    /** Replays the response to another duplicate request; false if it is not among those kept. */
    boolean replay(long sequence, long address, int rkey) {
        for (int i = 0; i < slots.length; i++) {
            Slot s = slots[i];
            if (s.used && s.kind != Kind.READ && s.first == sequence) {
                if (s.address != address || s.rkey != rkey) {
                    return false;
                }
                s.next = 0;
                enqueue(i);
                return true;
            }
        }
        return false;
    }

    /** Moves to the end: a requester that retransmits a request retransmits all that followed as well. */
    private void enqueue(int slot) {
        dequeue(slot);
        queue[queued++] = slot;
    }

    private void dequeue(int slot) {
        int kept = 0;
        for (int i = 0; i < queued; i++) {
            if (queue[i] != slot) {
                queue[kept++] = queue[i];
            }
        }
        queued = kept;
    }

    /** The result of {@link #send}. */
    enum Outcome {
        /** No response is left to send. */
        DONE,
        /** The rest has to wait, for the wire or because the budget is used up. */
        MORE,
        /** The memory that a response reads is no longer registered. */
        REFUSED
    }

    /** Sends responses, {@code budget} packets at most. */
    Outcome send(int budget) {
        int left = budget;
        while (queued > 0) {
            Slot s = slots[queue[0]];
            while (true) {
                long a = left-- > 0 ? qp.wire.next() : 0;
                if (a == 0) {
                    return Outcome.MORE;
                }
                int length = write(s, a);
                if (length < 0) {
                    failedSequence = s.first + s.next;
                    dequeue(queue[0]);
                    return Outcome.REFUSED;
                }
                qp.sendToPeer(length);
                s.next++;
                if (s.kind != Kind.READ || (long) s.next * qp.mtu >= s.end) {
                    break;
                }
            }
            s.sent = true;
            dequeue(queue[0]);
        }
        return Outcome.DONE;
    }

    /** The sequence number of the response whose memory was no longer registered. */
    long failedSequence() {
        return failedSequence;
    }

    private int write(Slot s, long a) {
        if (s.kind == Kind.ATOMIC) {
            Bth.put(a, qp.wireTransport | PacketOpcode.ATOMIC_ACKNOWLEDGE, false, 0, qp.destination, false,
                    (int) s.first);
            Aeth.put(a + Bth.BYTES, Aeth.ACK, s.msn);
            BigEndian.putLong(a + Bth.BYTES + Aeth.BYTES, s.value);
            return Bth.BYTES + Aeth.BYTES + Long.BYTES;
        }
        long offset = (long) s.next * qp.mtu;
        int bytes = (int) Math.min(qp.mtu, s.end - offset);
        boolean first = s.next == s.start;
        boolean last = offset + bytes >= s.end;
        int operation = first
                ? last ? PacketOpcode.READ_ONLY : PacketOpcode.READ_FIRST
                : last ? PacketOpcode.READ_LAST : PacketOpcode.READ_MIDDLE;
        int pad = -bytes & 3;
        Bth.put(a, qp.wireTransport | operation, false, pad, qp.destination, false, (int) s.first + s.next);
        long at = a + Bth.BYTES;
        if (first || last) {
            Aeth.put(at, Aeth.ACK, s.msn);
            at += Aeth.BYTES;
        }
        Memory memory = s.memory;
        if (bytes > 0 && memory != null && memory.read(qp.number(), s.rkey, s.address + offset, at, bytes) < 0) {
            return -1;
        }
        for (int i = 0; i < pad; i++) {
            RawMemory.putByte(at + bytes + i, (byte) 0);
        }
        return (int) (at - a) + bytes + pad;
    }
}
