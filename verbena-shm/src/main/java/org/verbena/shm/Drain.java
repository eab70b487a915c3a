// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

/**
 * The wait of a queue pair in SQD: from the move to SQD until all that was started is done. Changed under the queue
 * pair's lock, asked for by any thread.
 */
final class Drain {
    private volatile boolean goingOn;
    private boolean notify;

    boolean isGoingOn() {
        return goingOn;
    }

    /** Begins; {@code notify} if its end is to be told. */
    void begin(boolean notify) {
        goingOn = true;
        this.notify = notify;
    }

    /** Ends; answers true if it went on and its end is to be told. */
    boolean end() {
        boolean ends = goingOn;
        goingOn = false;
        return ends && notify;
    }
}
