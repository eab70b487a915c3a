// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.metrics;

import java.util.ArrayDeque;
import java.util.Deque;

import org.verbena.telemetry.CounterEntry;
import org.verbena.telemetry.CounterFile;
import org.verbena.telemetry.CounterLayout;
import org.verbena.verbs.ObjectType;
import org.verbena.verbs.SamplePoint;

/** A context of a provider whose counts a test sets. */
final class Shown implements AutoCloseable {
    private static final int CELL = CounterLayout.LARGE_CELLS - 1;

    final CounterEntry device;
    final CounterEntry port;
    private final String name;
    private final Deque<CounterEntry> entries = new ArrayDeque<>();

    Shown(String name) {
        this.name = name;
        device = keep(CounterFile.own().take(ObjectType.DEVICE, 0, name, 0, CounterLayout.SMALL_CELLS,
                cells(SamplePoint.DEVICE_PEERS, SamplePoint.DEVICE_WAKE_UPS)));
        port = keep(CounterFile.own().take(ObjectType.PORT, 1, name, device.id(), CounterLayout.LARGE_CELLS,
                cells(SamplePoint.QP_TX_SENDS, SamplePoint.QP_TX_SEND_BYTES)));
    }

    /** An object with one sample point, until it is closed or this is. */
    CounterEntry object(int type, int number, int point) {
        boolean large = type == ObjectType.QP;
        CounterEntry e = keep(CounterFile.own().take(type, number, name, device.id(),
                large ? CounterLayout.LARGE_CELLS : CounterLayout.SMALL_CELLS, cells(point)));
        if (large) {
            e.addUpIn(port);
        }
        return e;
    }

    private CounterEntry keep(CounterEntry e) {
        entries.push(e);
        return e;
    }

    private static long cells(int... points) {
        long mask = 0;
        for (int p : points) {
            mask |= 1L << (p & CELL);
        }
        return mask;
    }

    static void count(CounterEntry e, int point, long n) {
        e.add(point & CELL, n);
    }

    @Override
    public void close() {
        entries.forEach(CounterEntry::close);
    }
}
