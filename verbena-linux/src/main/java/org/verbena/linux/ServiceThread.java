// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

/**
 * A daemon thread of Verbena's own. It belongs to the process, whichever thread of the program happens to start it: it takes over
 * neither that one's group, priority, context class loader nor inheritable thread locals, which it would keep for ever.
 *
 * <p>It cannot be interrupted. Programs interrupt what they find in a thread group, and a channel of the JDK's that a thread uses
 * while it is interrupted is closed: that would be a connection of the program's.
 */
public final class ServiceThread extends Thread {
    @SuppressWarnings("ThreadPriorityCheck") // of another, it would take over that of the thread that starts it
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
