// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.datagram;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.control.Session;
import org.verbena.shm.layout.DatagramLayout;

/**
 * Reads a datagram ring, see {@link DatagramLayout}, in memory that the peer may write at any time: each word is read
 * once and checked. Used by one thread at a time, except where another thread is mentioned.
 */
public final class DatagramReader {
    final Session session;
    final long key;
    private final long ring;
    private final long base;
    private final long size;
    /** Address of our word with the position up to which the ring is read. */
    public final long counter;
    private long position;
    private long taken;
    private int length;
    /** The writer is done; set by the engine. */
    private volatile boolean ended;

    public DatagramReader(Session session, long key, long ring, long bytes, long counter) {
        this.session = session;
        this.key = key;
        this.ring = ring;
        this.counter = counter;
        base = ring + DatagramLayout.RECORDS;
        size = bytes - DatagramLayout.RECORDS;
    }

    /** Bytes of all records together. */
    long size() {
        return size;
    }

    /** Address of the oldest record, 0 if there is none. */
    public long record() {
        while (true) {
            long offset = position & size - 1;
            long commit = RawMemory.getLongAcquire(base + offset + DatagramLayout.COMMIT);
            if (commit == position + 1) {
                int n = RawMemory.getInt(base + offset + DatagramLayout.LENGTH);
                if (n < 0 || n > DatagramLayout.MAX_MESSAGE || offset + DatagramLayout.record(n) > size) {
                    ended = true; // it is damaged, and the next record cannot be found
                    return 0;
                }
                length = n;
                return base + offset;
            }
            if (commit != (position + 1 | DatagramLayout.SKIP) || offset == 0) {
                return 0;
            }
            moveTo(position + size - offset);
        }
    }

    /** Bytes of the message in the last record that {@link #record} returned. */
    public int length() {
        return length;
    }

    /** Records that got a receive. */
    public long taken() {
        return taken;
    }

    /** {@code count} records have got a receive now, or are about to. */
    public void setTaken(long count) {
        taken = count;
        RawMemory.putLongRelease(counter + DatagramLayout.COUNTER_TAKEN, count);
    }

    /** Releases the last record that {@link #record} returned. */
    public void advance() {
        moveTo(position + DatagramLayout.record(length));
    }

    private void moveTo(long next) {
        position = next;
        RawMemory.putLongRelease(counter, next);
    }

    /** True if something was committed and not read; any thread, and only a hint. */
    boolean hasFirst() {
        return RawMemory.getLongAcquire(base + DatagramLayout.COMMIT) != 0;
    }

    /** Number of records that wait to be read, at most {@code most}; any thread, and only a hint. */
    int waiting(int most) {
        long at = RawMemory.getLongAcquire(counter);
        int count = 0;
        while (count < most) {
            long offset = at & size - 1;
            long commit = RawMemory.getLongAcquire(base + offset + DatagramLayout.COMMIT);
            if (commit == at + 1) {
                int n = RawMemory.getInt(base + offset + DatagramLayout.LENGTH);
                if (n < 0 || n > DatagramLayout.MAX_MESSAGE) {
                    return count;
                }
                at += DatagramLayout.record(n);
                count++;
            } else if (commit == (at + 1 | DatagramLayout.SKIP) && offset != 0) {
                at += size - offset;
            } else {
                return count;
            }
        }
        return count;
    }

    /** The arm word that the peer has signalled last; any thread. */
    long notified() {
        return RawMemory.getLongAcquire(ring + DatagramLayout.NOTIFIED);
    }

    /** The peer writes no more; any thread. */
    void end() {
        ended = true;
    }

    /** True if the writer is done; committed records may still be there. */
    public boolean isEnded() {
        return ended || session.isDead();
    }
}
