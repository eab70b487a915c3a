// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * How far the application has polled the completions of a send queue: a request takes space until then, not only until
 * it is executed. Written by the polling thread, read by the posting thread.
 */
final class SendRoom {
    private static final VarHandle FREED;

    static {
        try {
            FREED = MethodHandles.lookup().findVarHandle(SendRoom.class, "freed", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("unused") // FREED
    private long freed;

    /** The first {@code requests} requests that were ever posted take no space any more. */
    void free(long requests) {
        FREED.setRelease(this, requests);
    }

    long freed() {
        return (long) FREED.getAcquire(this);
    }
}
