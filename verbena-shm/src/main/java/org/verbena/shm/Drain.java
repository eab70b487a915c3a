// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

/**
 * The wait of a queue pair in SQD: from the move to SQD until all that was started is done. Changed under the queue
 * pair's lock, asked for by any thread.
 */
final class Drain {
    private volatile boolean active;
    private boolean notify;

    boolean isActive() {
        return active;
    }

    /** Begins; {@code notify} if its end is to be told. */
    void begin(boolean notify) {
        active = true;
        this.notify = notify;
    }

    /** Ends; answers true if it went on and its end is to be told. */
    boolean end() {
        boolean ends = active;
        active = false;
        return ends && notify;
    }
}
