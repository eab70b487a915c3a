// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

/**
 * A daemon thread of Verbena's own. It serves the whole process, and does not inherit the thread group, the priority, the context
 * class loader or the inheritable thread locals of the thread that starts it: they would stay in use until the process ends.
 *
 * <p>It cannot be interrupted. Some programs interrupt all threads of a thread group, and the JDK closes a channel that an
 * interrupted thread uses: here that would be a connection of the program.
 */
public final class ServiceThread extends Thread {
    @SuppressWarnings("ThreadPriorityCheck") // the default is the priority of the thread that starts it
    private ServiceThread(String name, Runnable task) {
        super(rootGroup(), task, name, 0, false);
        setDaemon(true);
        setPriority(NORM_PRIORITY);
        setContextClassLoader(ClassLoader.getSystemClassLoader());
    }

    /** A thread that is not started yet. */
    public static Thread of(String name, Runnable task) {
        return new ServiceThread(name, task);
    }

    /**
     * Starts a thread.
     *
     * @throws OutOfMemoryError if there is none to be had
     */
    public static Thread start(String name, Runnable task) {
        Thread t = of(name, task);
        t.start();
        return t;
    }

    /** Does nothing. */
    @Override
    public void interrupt() {}

    private static ThreadGroup rootGroup() {
        ThreadGroup group = Thread.currentThread().getThreadGroup();
        for (ThreadGroup parent = group; parent != null; parent = parent.getParent()) {
            group = parent;
        }
        return group;
    }
}
