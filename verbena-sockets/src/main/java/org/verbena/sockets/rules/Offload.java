// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.rules;

import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;

/** Whether the sockets that a thread creates may use anything but the kernel. Thread-safe. */
final class Offload {
    /** The system property with the default of the process. */
    static final String PROPERTY = "verbena.offload";

    /** Threads that differ from the default, platform or virtual; forgotten with the thread. */
    private static final Map<Thread, Boolean> THREADS = Collections.synchronizedMap(new WeakHashMap<>());

    private static volatile boolean process = !"off".equals(System.getProperty(PROPERTY));
    private static volatile boolean anyThread;

    private Offload() {}

    static boolean isOn() {
        if (!anyThread) {
            return process;
        }
        Boolean own = THREADS.get(Thread.currentThread());
        return own == null ? process : own;
    }

    static void set(boolean on) {
        process = on;
    }

    static void set(Thread thread, boolean on) {
        THREADS.put(thread, on);
        anyThread = true;
    }
}
