// SPDX-License-Identifier: Apache-2.0
package org.verbena.telemetry;

import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.FlightRecorderListener;

/**
 * Has an event recorded periodically while a recording runs. Not in the class of the event: to initialise such a
 * class registers it, which starts half of the recorder.
 */
final class PeriodicEvent implements FlightRecorderListener {
    private final Class<? extends Event> type;
    private final Runnable commit;

    private PeriodicEvent(Class<? extends Event> type, Runnable commit) {
        this.type = type;
        this.commit = commit;
    }

    /** The recorder is not started for it; where it is, or will be, it asks. */
    static void offer(Class<? extends Event> type, Runnable commit) {
        FlightRecorder.addListener(new PeriodicEvent(type, commit));
    }

    @Override
    public void recorderInitialized(FlightRecorder recorder) {
        FlightRecorder.addPeriodicEvent(type, commit);
    }
}
