// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.memory;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.layout.CountsLayout;
import org.verbena.shm.layout.Hazard;
import org.verbena.verbs.spi.PublishedObjects;
import org.verbena.verbs.spi.SendOpcode;

/**
 * Counts the accesses of a queue pair to memory of one peer, where the peer can read the counts: see {@link CountsLayout}. Used by one
 * thread at a time; accesses are counted inside the {@link Hazard}, so that the counts are complete when the peer has
 * seen that it was left. A key other than the last costs a lock of the session's and some dozen stores.
 */
public final class InitiatorCounts {
    private final @Nullable SessionCounts all;
    /** Address of the slot; 0 if there is none, and nothing is counted for the peer. */
    private final long slot;
    /** The latest key; none at first, whatever a request names. */
    private long key = Long.MIN_VALUE;
    private long writes;
    private long writeBytes;
    private long reads;
    private long readBytes;
    private long atomics;

    InitiatorCounts(SessionCounts all, int queuePair, int peerQueuePair) {
        long at = all.take(queuePair, peerQueuePair);
        this.all = at == 0 ? null : all;
        this.slot = at;
    }

    public void wrote(int rkey, long bytes) {
        if (!PublishedObjects.COUNTING || rkey != key && !changeKey(rkey)) {
            return;
        }
        RawMemory.putLong(slot, CountsLayout.WRITES, ++writes);
        RawMemory.putLong(slot, CountsLayout.WRITE_BYTES, writeBytes += bytes);
    }

    /** A one-sided request was carried out. */
    public void done(WorkRequest w, int opcode) {
        switch (opcode) {
            case SendOpcode.WRITE, SendOpcode.WRITE_IMM -> {
                if (w.total == 0) {
                    touchedNothing(CountsLayout.WRITES, ++writes);
                } else {
                    wrote(w.rkey, w.total);
                }
            }
            case SendOpcode.ATOMIC_WRITE -> wrote(w.rkey, Long.BYTES);
            case SendOpcode.READ -> {
                if (w.total == 0) {
                    touchedNothing(CountsLayout.READS, ++reads);
                } else {
                    read(w.rkey, w.total);
                }
            }
            default -> atomic(w.rkey);
        }
    }

    /**
     * A request without bytes accesses no region. First as if it were in the tables: a reader in between sees one less, and
     * never one more.
     */
    private void touchedNothing(long number, long value) {
        if (all != null) {
            long done = slot + CountsLayout.DONE + number;
            RawMemory.putLongRelease(done, RawMemory.getLong(done) + 1);
            RawMemory.putLongRelease(slot + number, value);
        }
    }

    private void read(int rkey, long bytes) {
        if (rkey == key || changeKey(rkey)) {
            RawMemory.putLong(slot, CountsLayout.READS, ++reads);
            RawMemory.putLong(slot, CountsLayout.READ_BYTES, readBytes += bytes);
        }
    }

    private void atomic(int rkey) {
        if (rkey == key || changeKey(rkey)) {
            RawMemory.putLong(slot, CountsLayout.ATOMICS, ++atomics);
        }
    }

    /** A request found no receive there. */
    public void waited() {
        if (all != null) {
            long at = slot + CountsLayout.OTHERS;
            RawMemory.putLong(at, RawMemory.getLong(at) + 1);
        }
    }

    /** A request was refused because of its key. */
    public void refused(int rkey) {
        if (all != null) {
            all.refused(rkey);
        }
    }

    private boolean changeKey(int rkey) {
        if (all != null) {
            all.changeKey(slot, rkey);
            key = rkey;
        }
        return all != null;
    }

    /** No more accesses to the peer. */
    void close() {
        if (all != null) {
            all.give(slot);
        }
    }
}
