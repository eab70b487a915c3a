// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.async;

import org.jspecify.annotations.Nullable;

/**
 * What the current thread is to a group while it runs one of the group's tasks: only there a completion handler may be
 * called directly by its operation, up to a limited depth of recursion.
 */
final class GroupThread {
    /** As the JDK's limit, and by its property: deeper ones go to the pool, lest the stack overflows. */
    private static final int MAX_ON_STACK = Integer.getInteger("sun.nio.ch.maxCompletionHandlersOnStack", 16);

    private static final ThreadLocal<@Nullable GroupThread> CURRENT = new ThreadLocal<>();

    private final ChannelGroup group;
    private int handlers;

    private GroupThread(ChannelGroup group) {
        this.group = group;
    }

    /** Runs a task of the group; the pool's thread may run tasks of others afterwards. */
    static void run(ChannelGroup group, Runnable task) {
        GroupThread before = CURRENT.get(); // the executor may run tasks in the thread that gives them
        CURRENT.set(new GroupThread(group));
        try {
            task.run();
        } finally {
            if (before == null) {
                CURRENT.remove();
            } else {
                CURRENT.set(before);
            }
        }
    }

    /** Of the current thread; null if it runs no task of {@code group}. */
    static @Nullable GroupThread of(ChannelGroup group) {
        GroupThread t = CURRENT.get();
        return t != null && t.group == group ? t : null;
    }

    /** Whether one more handler may be called. */
    boolean hasRoom() {
        return handlers < MAX_ON_STACK;
    }

    /** Calls a handler. As the JDK counts them, those that have returned are counted until the task ends. */
    void call(Request<?> request) {
        handlers++;
        request.callHandler();
    }
}
