// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import org.verbena.linux.LinuxException;
import org.verbena.telemetry.CounterEntry;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.spi.PublishedObjects;
import org.verbena.xdp.program.FlowCount;
import org.verbena.xdp.program.FlowTable;

/** A flow in the maps of an interface's program, with what it has counted. Thread-safe. */
final class InstalledFlow {
    private static final int PACKETS = PublishedObjects.cell(SamplePoint.PACKETS);
    private static final int BYTES = PublishedObjects.cell(SamplePoint.BYTES);

    private final InterfaceProgram program;
    private final FlowTable.Entry entry;
    private final CounterEntry published;
    private final int counter;
    private final boolean asked;
    private boolean removed;
    private boolean ended;

    /**
     * A flow that is in the maps.
     *
     * @param published its entry for readers of counters
     * @param counter 0 if it is not counted
     * @param asked whether counting was asked for
     */
    InstalledFlow(InterfaceProgram program, FlowTable.Entry entry, CounterEntry published, int counter, boolean asked) {
        this.program = program;
        this.entry = entry;
        this.published = published;
        this.counter = counter;
        this.asked = asked;
    }

    CounterEntry published() {
        return published;
    }

    boolean isCounted() {
        return counter != 0;
    }

    /** Publishes what was counted until now. */
    synchronized void gather() {
        if (!ended && counter != 0) {
            try {
                FlowCount now = program.maps().read(counter);
                published.raise(PACKETS, now.packets());
                published.raise(BYTES, now.bytes());
            } catch (LinuxException e) {
                XdpLog.log(System.Logger.Level.WARNING, "cannot read what " + entry + " has counted", e);
            }
        }
    }

    /** Takes the flow out of the maps and publishes what it has counted; once. */
    synchronized void remove() throws LinuxException {
        entry.close();
        if (!removed) {
            removed = true;
            gather();
            ended = true;
            program.removed(this, counter, asked);
        }
    }

    @Override
    public String toString() {
        return entry.toString();
    }
}
