// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

import org.verbena.verbs.MemoryRegion;
import org.verbena.verbs.ReceiveQueue;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendQueue;

/** A work request as a value, so that a test can post it at either end. Sends are signalled by default. */
record Op(Kind kind, long wrId, int flags, int rkey, long remote, int immediate, long compare, long operand,
        List<Sge> buffers, boolean inline) implements Serializable {
    /** The operations. */
    enum Kind {
        SEND, SEND_IMMEDIATE, WRITE, WRITE_IMMEDIATE, READ, COMPARE_AND_SWAP, FETCH_AND_ADD, RECEIVE
    }

    private static Op of(Kind kind, long wrId) {
        return new Op(kind, wrId, SendFlags.SIGNALED, 0, 0, 0, 0, 0, List.of(), false);
    }

    private static Op of(Kind kind, long wrId, EndAddress peer, long offset) {
        return of(kind, wrId).at(peer.rkey(), peer.address() + offset);
    }

    static Op receive(long wrId) {
        return of(Kind.RECEIVE, wrId);
    }

    /** {@code n} receives, numbered from 0, each of this many bytes at its own offset, {@code stride} bytes apart. */
    static Op[] receives(int n, long stride, long length) {
        Op[] all = new Op[n];
        for (int i = 0; i < n; i++) {
            all[i] = receive(i).on(stride * i, length);
        }
        return all;
    }

    static Op send(long wrId) {
        return of(Kind.SEND, wrId);
    }

    static Op sendImmediate(long wrId, int immediate) {
        return of(Kind.SEND_IMMEDIATE, wrId).immediate(immediate);
    }

    static Op write(long wrId, EndAddress peer, long offset) {
        return of(Kind.WRITE, wrId, peer, offset);
    }

    static Op writeImmediate(long wrId, EndAddress peer, long offset, int immediate) {
        return of(Kind.WRITE_IMMEDIATE, wrId, peer, offset).immediate(immediate);
    }

    static Op read(long wrId, EndAddress peer, long offset) {
        return of(Kind.READ, wrId, peer, offset);
    }

    static Op compareAndSwap(long wrId, EndAddress peer, long offset, long compare, long swap) {
        Op o = of(Kind.COMPARE_AND_SWAP, wrId, peer, offset);
        return new Op(o.kind, wrId, o.flags, o.rkey, o.remote, 0, compare, swap, List.of(), false);
    }

    static Op fetchAndAdd(long wrId, EndAddress peer, long offset, long add) {
        Op o = of(Kind.FETCH_AND_ADD, wrId, peer, offset);
        return new Op(o.kind, wrId, o.flags, o.rkey, o.remote, 0, 0, add, List.of(), false);
    }

    private Op immediate(int value) {
        return new Op(kind, wrId, flags, rkey, remote, value, compare, operand, buffers, inline);
    }

    /** The same operation on another remote address. */
    Op at(int key, long address) {
        return new Op(kind, wrId, flags, key, address, immediate, compare, operand, buffers, inline);
    }

    /** The same with exactly these flags. */
    Op flags(int value) {
        return new Op(kind, wrId, value, rkey, remote, immediate, compare, operand, buffers, inline);
    }

    /** The same with one more flag. */
    Op and(int flag) {
        return flags(flags | flag);
    }

    Op unsignaled() {
        return flags(flags & ~SendFlags.SIGNALED);
    }

    private Op buffer(Sge sge) {
        List<Sge> all = new ArrayList<>(buffers);
        all.add(sge);
        return new Op(kind, wrId, flags, rkey, remote, immediate, compare, operand, List.copyOf(all), inline);
    }

    /** The same with one more buffer of the local region. */
    Op on(long offset, long length) {
        return buffer(new Sge(true, 0, offset, length));
    }

    /** The same with one more buffer of any key and address. */
    Op onKey(int lkey, long address, long length) {
        return buffer(new Sge(false, lkey, address, length));
    }

    /** The same with inline data from the local region. */
    Op inlineFrom(long offset, long length) {
        Op o = on(offset, length);
        return new Op(kind, wrId, flags, rkey, remote, immediate, compare, operand, o.buffers, true);
    }

    /**
     * Whether it can also be posted alone: one buffer of the local region, and an operation that has a call for that.
     */
    boolean isSimple() {
        return buffers.size() == 1 && buffers.getFirst().own() && !inline && switch (kind) {
            case SEND, WRITE, READ, RECEIVE -> true;
            default -> false;
        };
    }

    /** Adds it to a batch of an end that has this region. */
    void addTo(SendQueue sq, MemoryRegion region) {
        switch (kind) {
            case SEND -> sq.send(wrId, flags);
            case SEND_IMMEDIATE -> sq.sendImmediate(wrId, flags, immediate);
            case WRITE -> sq.write(wrId, flags, rkey, remote);
            case WRITE_IMMEDIATE -> sq.writeImmediate(wrId, flags, rkey, remote, immediate);
            case READ -> sq.read(wrId, flags, rkey, remote);
            case COMPARE_AND_SWAP -> sq.compareAndSwap(wrId, flags, rkey, remote, compare, operand);
            case FETCH_AND_ADD -> sq.fetchAndAdd(wrId, flags, rkey, remote, operand);
            case RECEIVE -> throw new IllegalArgumentException("a receive on a send queue");
        }
        for (Sge s : buffers) {
            if (inline) {
                sq.inline(region.segment(), s.at(), s.length());
            } else if (s.own()) {
                sq.sge(region, s.at(), s.length());
            } else {
                sq.sge(s.lkey(), s.at(), s.length());
            }
        }
    }

    /** Adds a receive to a batch of an end that has this region. */
    void addTo(ReceiveQueue rq, MemoryRegion region) {
        rq.receive(wrId);
        for (Sge s : buffers) {
            if (s.own()) {
                rq.sge(region, s.at(), s.length());
            } else {
                rq.sge(s.lkey(), s.at(), s.length());
            }
        }
    }
}
