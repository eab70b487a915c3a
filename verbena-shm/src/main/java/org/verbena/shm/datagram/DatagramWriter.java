// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.datagram;

import org.verbena.linux.LinuxException;
import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.control.Session;
import org.verbena.shm.layout.DatagramLayout;
import org.verbena.shm.layout.Hazard;

/** Writes a datagram ring, see {@link DatagramLayout}. Used by one thread at a time, except where another thread is mentioned. */
public final class DatagramWriter {
    /** Pages are reserved in parts of this size on the first pass through the ring. */
    private static final long PART = 64 << 10;
    final Session session;
    final long key;
    /** Address and bytes of the whole, header included. */
    final long at;
    final long bytes;
    /** Address of the word that is not 0 while it is used, see {@link Hazard}. */
    final long hazard;

    private final long base;
    private final long size;
    private long position;
    /** Bytes that have pages. */
    private long reserved;
    /** Position of the reader, as last read. */
    private long consumed;
    /** Address of the reader's word with its position, 0 until the reader has announced it; set by the engine. */
    private volatile long consumedAt;
    /** Changed under this object's lock. */
    boolean writerDone;
    /** The reader uses the ring no more. */
    volatile boolean readerDone;

    public DatagramWriter(Session session, long key, long at, long bytes, long hazard) throws LinuxException {
        this.session = session;
        this.key = key;
        this.at = at;
        this.bytes = bytes;
        this.hazard = hazard;
        base = at + DatagramLayout.RECORDS;
        size = bytes - DatagramLayout.RECORDS;
        session.mapping().heap().reserve(at, DatagramLayout.RECORDS);
        RawMemory.fill(at, DatagramLayout.RECORDS, (byte) 0);
        reservePart();
    }

    private void reservePart() throws LinuxException {
        session.mapping().heap().reserve(base + reserved, PART);
        // a commit left from an earlier use could be taken for a new one
        RawMemory.fill(base + reserved, PART, (byte) 0);
        reserved += PART;
    }

    /** The reader has announced the address of its position; any thread. */
    public void setReaderPosition(long address) {
        consumedAt = address;
    }

    /** Whether the address of the reader's position is known; until then no record is reused. */
    boolean hasReaderPosition() {
        return consumedAt != 0;
    }

    /** Address of room for a record with a message of {@code message} bytes; 0 if there is none. */
    public long begin(long message) {
        long need = DatagramLayout.record(message);
        long offset = position & size - 1;
        long skipped = offset + need > size ? size - offset : 0;
        // and the commit of the record that will follow
        long end = position + skipped + need + DatagramLayout.UNIT;
        if (end - consumed > size && !hasRoom(end) || end > reserved && reserved < size && !reserve(end)) {
            return 0;
        }
        if (skipped > 0) {
            RawMemory.putLong(base + DatagramLayout.COMMIT, 0);
            RawMemory.putLongRelease(base + offset + DatagramLayout.COMMIT, position + 1 | DatagramLayout.SKIP);
            position += skipped;
        }
        return base + (position & size - 1);
    }

    private boolean hasRoom(long end) {
        long a = consumedAt;
        if (a != 0) {
            long c = RawMemory.getLongAcquire(a);
            if (c - consumed > 0 && c - position <= 0) {
                consumed = c;
            }
        }
        return end - consumed <= size;
    }

    private boolean reserve(long end) {
        try {
            while (reserved < size && reserved < end) {
                reservePart();
            }
            return true;
        } catch (LinuxException | IllegalStateException e) {
            return false;
        }
    }

    /** Commits the record that was begun at {@code record} and has been written completely. */
    public void commit(long record, long message) {
        long next = position + DatagramLayout.record(message);
        RawMemory.putLong(base + (next & size - 1) + DatagramLayout.COMMIT, 0);
        RawMemory.putLongRelease(record + DatagramLayout.COMMIT, position + 1);
        position = next;
    }

    /** Number of records of this ring that have got a receive; {@code unknown} as long as the reader's address is not known. */
    public long taken(long unknown) {
        long a = consumedAt;
        return a == 0 ? unknown : RawMemory.getLongAcquire(a + DatagramLayout.COUNTER_TAKEN) & Long.MAX_VALUE;
    }
}
