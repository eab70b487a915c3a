package org.verbena.shm;

import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.spi.CounterEntry;

/** What peers did to a region of memory, which only they know and which is asked for now and then. Thread-safe. */
final class RegionCounts {
    /** In the order of {@link CountsLayout}. */
    private static final int[] POINTS = {SamplePoint.MR_REMOTE_WRITES, SamplePoint.MR_REMOTE_WRITE_BYTES,
        SamplePoint.MR_REMOTE_READS, SamplePoint.MR_REMOTE_READ_BYTES, SamplePoint.MR_REMOTE_ATOMICS,
        SamplePoint.MR_REMOTE_FAULTS};

    private final ShmContext context;
    private final int key;
    private final CounterEntry entry;
    /** What peers did that are gone. */
    private final long[] gone = new long[CountsLayout.NUMBERS];

    RegionCounts(ShmContext context, int key, CounterEntry entry) {
        this.context = context;
        this.key = key;
        this.entry = entry;
    }

    /** Asks what all peers have done. */
    synchronized void look() {
        long[] now = gone.clone();
        for (Session s : context.control().sessions()) {
            if (!s.isDead()) { // else it is, or is about to be, among those that are gone
                s.counts().addOfKey(key, now);
            }
        }
        for (int i = 0; i < now.length; i++) {
            long cell = entry.cell(ShownObjects.cell(POINTS[i]));
            if (now[i] - RawMemory.getLong(cell) > 0) {
                RawMemory.putLong(cell, now[i]);
            }
        }
    }

    /** A peer is gone. */
    synchronized void end(Session s) {
        s.counts().addOfKey(key, gone);
        KeepAlive.until(s);
    }
}
