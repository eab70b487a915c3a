// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

/**
 * The wait of a queue pair in SQD: from the move to SQD until all started requests are done. Changed under the queue
 * pair's lock, read by any thread.
 */
final class Drain {
    private volatile boolean active;
    private boolean notify;

    boolean isActive() {
        return active;
    }

    /** Begins; {@code notify} if its end is to be reported. */
    void begin(boolean notify) {
        active = true;
        this.notify = notify;
    }

    /** Ends; true if it was active and its end is to be reported. */
    boolean end() {
        boolean ends = active;
        active = false;
        return ends && notify;
    }
}
