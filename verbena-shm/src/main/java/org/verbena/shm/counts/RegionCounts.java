// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.counts;

import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;

import org.verbena.shm.control.Control;
import org.verbena.shm.control.Session;
import org.verbena.shm.layout.CountsLayout;
import org.verbena.telemetry.CounterEntry;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.spi.PublishedObjects;

/** Counters of accesses of peers to a region of memory, which only they count and which are read from them on request. Thread-safe. */
public final class RegionCounts {
    /** In the order of {@link CountsLayout}. */
    private static final int[] POINTS = {SamplePoint.MR_REMOTE_WRITES, SamplePoint.MR_REMOTE_WRITE_BYTES,
        SamplePoint.MR_REMOTE_READS, SamplePoint.MR_REMOTE_READ_BYTES, SamplePoint.MR_REMOTE_ATOMICS,
        SamplePoint.MR_REMOTE_FAULTS};

    private final Control control;
    private final int key;
    private final CounterEntry entry;
    /** Counts of peers that are gone, less those for an earlier region with this key. */
    private final long[] gone = new long[CountsLayout.NUMBERS];
    /** For an update. */
    private final long[] now = new long[CountsLayout.NUMBERS];
    /** Those peers. */
    private final Set<Session> ended = Collections.newSetFromMap(new WeakHashMap<>());
    private boolean closed;

    public RegionCounts(Control control, int key, CounterEntry entry) {
        this.control = control;
        this.key = key;
        this.entry = entry;
        for (Session s : control.sessions()) {
            s.counts().addOfKey(key, gone);
        }
        for (int i = 0; i < gone.length; i++) {
            gone[i] = -gone[i];
        }
    }

    /** Reads the counts of all peers. */
    public void update() {
        update(control.sessions());
    }

    /**
     * As the other, for one that updates several.
     *
     * @param sessions those that there are
     */
    public synchronized void update(List<Session> sessions) {
        if (closed) {
            return; // the entry is perhaps another object's
        }
        System.arraycopy(gone, 0, now, 0, now.length);
        for (Session s : sessions) {
            if (!ended.contains(s)) {
                s.counts().addOfKey(key, now);
            }
        }
        for (int i = 0; i < now.length; i++) {
            entry.raise(PublishedObjects.cell(POINTS[i]), now[i]);
        }
    }

    /** A peer is about to be forgotten, and accesses nothing any more. */
    public synchronized void end(Session s) {
        if (!closed && ended.add(s)) {
            s.counts().addOfKey(key, gone);
        }
    }

    /** No peer accesses the region any more: reads the counts for the last time. */
    public synchronized void close() {
        update();
        closed = true;
    }
}
