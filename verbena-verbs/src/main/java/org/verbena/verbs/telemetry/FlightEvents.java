// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.telemetry;

import org.jspecify.annotations.Nullable;

import org.verbena.telemetry.FlightRecording;

/**
 * What providers tell the Java Flight Recorder: connections, errors, waits and sleeps. See {@code docs/jfr.md}.
 *
 * <p>To be called for rare events. Without a recording, or where the Java runtime has no recorder, a call
 * does nothing and allocates nothing. Safe for use by several threads.
 */
public final class FlightEvents {
    private FlightEvents() {}

    /**
     * A queue pair has a peer now.
     *
     * @param peer number of the peer's queue pair
     * @param process the peer's process; 0 if that is not known
     */
    public static void connected(String device, int queuePair, int peer, long process) {
        if (FlightRecording.isOn()) {
            ConnectionEvent.commit(device, queuePair, peer, process, "connected");
        }
    }

    /** A queue pair has no peer any more; parameters as of {@link #connected}. */
    public static void disconnected(String device, int queuePair, int peer, long process) {
        if (FlightRecording.isOn()) {
            ConnectionEvent.commit(device, queuePair, peer, process, "disconnected");
        }
    }

    /**
     * A request or a receive completed with an error; not one that was flushed.
     *
     * @param opcode of the completion, see {@link org.verbena.verbs.WcOpcode}
     * @param status see {@link org.verbena.verbs.WcStatus}
     */
    public static void failed(String device, int queuePair, int opcode, long wrId, int status) {
        if (FlightRecording.isOn()) {
            ErrorEvent.commit(device, queuePair, opcode, wrId, status);
        }
    }

    /** A queue pair went to state ERR, for this reason. */
    public static void broken(String device, int queuePair, String reason) {
        if (FlightRecording.isOn()) {
            ErrorEvent.commit(device, queuePair, reason);
        }
    }

    /**
     * A request has to wait, and is tried again.
     *
     * @param reason what it waits for
     */
    public static void retries(String device, int queuePair, String reason) {
        if (FlightRecording.isOn()) {
            RetryEvent.commit(device, queuePair, reason);
        }
    }

    /** A thread that waits for something is about to sleep. */
    public interface Sleep {
        /**
         * It was woken.
         *
         * @param by what it slept on, for instance {@code "completion channel 1 of shm0"}
         */
        void wokenBy(String by);
    }

    /**
     * A thread is about to sleep until something happens on a device.
     *
     * @return to be informed of the end; null without a recording
     */
    public static @Nullable Sleep sleeps(String device) {
        return FlightRecording.isOn() ? WakeUpEvent.begin(device) : null;
    }
}
