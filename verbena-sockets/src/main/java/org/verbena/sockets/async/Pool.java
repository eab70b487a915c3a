// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.async;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/** The executors of groups that were not given one, and the threads that belong to no program. */
final class Pool {
    private static final String PROPERTY = "java.nio.channels.DefaultThreadPool.";

    private Pool() {}

    /**
     * That of the default group.
     *
     * @throws Error if the property that names a factory of threads, or the one for their number, is invalid
     */
    static ExecutorService ofDefaultGroup() {
        checkInitialSize();
        ThreadFactory given = givenFactory();
        return Executors.newCachedThreadPool(given == null ? Pool::daemon : given);
    }

    /**
     * So many threads, which are there from the beginning: those that are no daemons keep the program alive as long as
     * its group is not shut down.
     */
    static ExecutorService fixed(int threads, ThreadFactory factory) {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(threads, threads, 0, TimeUnit.MILLISECONDS,
                new LinkedBlockingQueue<>(), factory);
        try {
            pool.prestartAllCoreThreads();
        } catch (RuntimeException | Error e) { // of the factory, or there are no more threads
            pool.shutdown();
            throw e;
        }
        return pool;
    }

    /**
     * Has a pool of the program start its threads, as the JDK's groups do: threads that are not daemons keep the
     * program alive. Pools without a limit start theirs on demand.
     */
    static void begin(ExecutorService pool, int threads) {
        if (pool instanceof ThreadPoolExecutor p && p.getMaximumPoolSize() == Integer.MAX_VALUE) {
            return;
        }
        for (int i = 0; i < threads; i++) {
            pool.execute(() -> {});
        }
    }

    /** A daemon thread that inherits nothing from the thread that creates it. */
    static Thread daemon(Runnable task) {
        Thread t = Thread.ofPlatform().daemon().name("verbena-async").inheritInheritableThreadLocals(false)
                .unstarted(task);
        t.setContextClassLoader(ClassLoader.getSystemClassLoader());
        return t;
    }

    /** Threads are created on demand; but a wrong number is to be reported at once. */
    private static void checkInitialSize() {
        String value = System.getProperty(PROPERTY + "initialSize");
        if (value != null) {
            try {
                Integer.parseInt(value);
            } catch (NumberFormatException e) {
                throw new Error("the property " + PROPERTY + "initialSize is no number: " + value, e);
            }
        }
    }

    private static @Nullable ThreadFactory givenFactory() {
        String value = System.getProperty(PROPERTY + "threadFactory");
        if (value == null) {
            return null;
        }
        try {
            return Class.forName(value, true, ClassLoader.getSystemClassLoader()).asSubclass(ThreadFactory.class)
                    .getDeclaredConstructor().newInstance();
        } catch (ReflectiveOperationException e) {
            throw new Error("the property " + PROPERTY + "threadFactory: " + e, e);
        }
    }
}
