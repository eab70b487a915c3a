// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import java.io.InterruptedIOException;

/** What {@link Thread#interrupt} does to a thread that waits. */
enum Interrupts {
    /** It closes the channel: that is what channels promise. */
    CLOSE_CHANNEL,

    /** Nothing to a platform thread; a virtual one stops to wait, and its socket is closed. So it is with classic sockets. */
    END_VIRTUAL_WAIT;

    /** @throws InterruptedIOException if the thread, which has just slept, is not to go on */
    void check() throws InterruptedIOException {
        if (this == END_VIRTUAL_WAIT) {
            Thread self = Thread.currentThread();
            if (self.isVirtual() && self.isInterrupted()) {
                throw new InterruptedIOException();
            }
        }
    }

    /**
     * Whether the thread's interrupt is to be taken away before it parks, and given back later: it would not let it park.
     */
    boolean areHidden() {
        return this == END_VIRTUAL_WAIT && !Thread.currentThread().isVirtual();
    }
}
