// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

import org.verbena.linux.Errno;
import org.verbena.verbs.AccessFlags;
import org.verbena.verbs.WcStatus;

/** Copies and events allocate nothing: neither the program's threads nor the engine's at either end. */
@Isolated("it counts what others of the process do, too")
class AllocationTest {
    private static final int COPIES = 100_000;
    /** Bytes of all threads of the process in a copy; JUnit's and the JVM's own are among them. */
    private static final double LIMIT = 0.1;
    private static final int ATTEMPTS = 50;

    private final Object bean;
    private final Method bytes;

    /** By reflection, since the module under test does not read jdk.management. */
    AllocationTest() throws ReflectiveOperationException {
        bean = Class.forName("java.lang.management.ManagementFactory").getMethod("getThreadMXBean").invoke(null);
        bytes = Class.forName("com.sun.management.ThreadMXBean").getMethod("getTotalThreadAllocatedBytes");
    }

    private static void copy(RemoteMemory from, int source, int target, int flags) {
        copy(from, source, target, flags, 2);
    }

    private static void copy(RemoteMemory from, int source, int target, int flags, long userData) {
        int error;
        while ((error = from.copies().copy(source, 0, target, 0, 8, flags, 1, userData)) != 0) {
            if (error != Errno.ENOBUFS && error != Errno.EAGAIN) {
                throw new AssertionError(Errno.name(error));
            }
            Thread.onSpinWait(); // the other end's engine is about to return credits
        }
        while (!from.copies().poll()) {
            Thread.onSpinWait();
        }
        if (from.copies().status() != WcStatus.SUCCESS) {
            throw new AssertionError(WcStatus.toString(from.copies().status()));
        }
    }

    private static void take(RemoteMemory at) {
        while (!at.events().poll()) {
            Thread.onSpinWait();
        }
    }

    private void nothing(Runnable copy) throws ReflectiveOperationException {
        double least = Double.MAX_VALUE;
        for (int attempt = 0; attempt < ATTEMPTS && least > LIMIT; attempt++) { // the first ones are compiled meanwhile
            long before = (long) bytes.invoke(bean);
            for (int i = 0; i < COPIES; i++) {
                copy.run();
            }
            least = Math.min(least, ((long) bytes.invoke(bean) - before) / (double) COPIES);
        }
        assertThat(least).isLessThan(LIMIT);
    }

    @Test
    void copiesAndEventsAllocateNothing() throws Exception {
        int all = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ;
        try (Ends ends = Ends.open()) {
            RemoteMemory a = ends.memoryA();
            RemoteMemory b = ends.memoryB();
            int ofA = a.allocate(64, all, 0).id();
            int ofB = b.allocate(64, all, 0).id();
            take(a);
            take(b);
            nothing(() -> copy(a, ofA, ofB, CopyFlags.NONE));
            nothing(() -> copy(a, ofB, ofA, CopyFlags.NONE));
            nothing(() -> {
                copy(a, ofA, ofB, CopyFlags.REMOTE_COMPLETION);
                take(b);
                copy(b, ofB, ofA, CopyFlags.REMOTE_COMPLETION);
                take(a);
            });
            nothing(() -> { // with immediate completions
                copy(a, ofA, ofB, CopyFlags.REMOTE_COMPLETION, 0);
                take(b);
                copy(b, ofB, ofA, CopyFlags.REMOTE_COMPLETION, 0);
                take(a);
            });
            nothing(() -> { // one way: credits are returned by control messages
                copy(a, ofA, ofB, CopyFlags.REMOTE_COMPLETION);
                take(b);
            });
            nothing(() -> {
                a.copies().start().add(ofA, 0, ofB, 0, 8, CopyFlags.UNSIGNALED, 1, 0).add(ofA, 8, ofB, 8, 8, 0, 2, 0)
                        .commit();
                while (!a.copies().poll()) {
                    Thread.onSpinWait();
                }
            });
        }
    }
}
