// SPDX-License-Identifier: Apache-2.0
package org.verbena.telemetry;

import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;

/**
 * Whether the Java Flight Recorder is there and records. Classes of events may be named only where it {@linkplain
 * #isAvailable is there}: on the class path of a runtime image without the module jdk.jfr, their superclass is missing.
 * Safe for use by several threads.
 */
public final class FlightRecording {
    private static final boolean AVAILABLE = ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    private FlightRecording() {}

    /** Whether the runtime image has the recorder. */
    public static boolean isAvailable() {
        return AVAILABLE;
    }

    /** True from the first recording on. */
    public static boolean isOn() {
        return AVAILABLE && FlightRecorder.isInitialized();
    }

    /**
     * Has an event recorded periodically while a recording runs; only where the recorder is {@linkplain #isAvailable
     * available}.
     *
     * @param commit commits the events; run by a thread of the recorder's
     */
    public static void periodically(Class<? extends Event> type, Runnable commit) {
        PeriodicEvent.offer(type, commit);
    }

    /** Has the counters of this process recorded periodically while a recording runs. */
    static void recordCounters() {
        if (AVAILABLE) {
            PeriodicEvent.offer(CounterEvent.class, () -> CounterEvent.commitAll());
        }
    }
}
