// SPDX-License-Identifier: Apache-2.0
package org.verbena.testkit;

import java.lang.reflect.Method;

/**
 * Bytes that the calling thread has allocated; by reflection, since the module under test does not read jdk.management.
 */
public final class AllocatedBytes {
    private static final Object BEAN;
    private static final Method BYTES;
    /** After some calls a method has code of its own for calls by reflection. */
    private static final int CALLS_UNTIL_COMPILED = 50;

    static {
        try {
            BEAN = Class.forName("java.lang.management.ManagementFactory").getMethod("getThreadMXBean").invoke(null);
            BYTES = Class.forName("com.sun.management.ThreadMXBean").getMethod("getCurrentThreadAllocatedBytes");
            for (int i = 0; i < CALLS_UNTIL_COMPILED; i++) { // which allocates: a query would be taken for an expensive one
                BYTES.invoke(BEAN);
            }
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("this JVM does not count what threads allocate", e);
        }
    }

    /** How often {@link #leastOf} runs its round. */
    public static final int ROUNDS = 5;

    private AllocatedBytes() {}

    /** What is measured. */
    public interface Round {
        /** Does it once. */
        void run() throws Exception;
    }

    /** The fewest bytes that the calling thread allocates in one of five rounds: the first of them loads classes. */
    public static long leastOf(Round round) throws Exception {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < ROUNDS; i++) {
            long query = Math.min(ofAQuery(), ofAQuery()); // one of them may be the one with which reflection makes itself faster
            long before = ofThisThread();
            round.run();
            least = Math.min(least, ofThisThread() - before - query);
        }
        return least;
    }

    private static long ofAQuery() throws ReflectiveOperationException {
        long before = ofThisThread();
        return ofThisThread() - before;
    }

    /** Bytes since the thread began; the query itself allocates some. */
    public static long ofThisThread() throws ReflectiveOperationException {
        return (long) BYTES.invoke(BEAN);
    }
}
