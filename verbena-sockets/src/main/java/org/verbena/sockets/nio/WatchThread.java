// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Epoll;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.ServiceThread;

/** The thread that sleeps at the inner selectors of all {@link KernelWatch}es that are armed. There is one; it starts with the first. */
final class WatchThread {
    private static @Nullable WatchThread instance;

    private final Epoll epoll;
    private final Map<Long, KernelWatch> watches = new ConcurrentHashMap<>();
    private final AtomicLong tokens = new AtomicLong();

    private WatchThread(Epoll epoll) {
        this.epoll = epoll;
    }

    /** @throws LinuxException if the system gives no descriptor for it */
    static synchronized WatchThread get() throws LinuxException {
        WatchThread one = instance;
        if (one == null) {
            Epoll epoll = Epoll.create();
            one = new WatchThread(epoll);
            try {
                ServiceThread.start("verbena-selector-watch", one::run);
            } catch (OutOfMemoryError e) {
                epoll.close();
                throw e;
            }
            instance = one;
        }
        return one;
    }

    /** Adds the descriptor of an inner selector, and fires its watch once; returns the number for {@link #arm}. */
    long add(Fd descriptor, KernelWatch watch) throws LinuxException {
        long token = tokens.incrementAndGet();
        watches.put(token, watch);
        try {
            epoll.add(descriptor, Epoll.IN | Epoll.ONESHOT, token);
        } catch (LinuxException e) {
            watches.remove(token);
            throw e;
        }
        return token;
    }

    /** Fires the watch once more, at once if there is something to report already. */
    void arm(Fd descriptor, long token) throws LinuxException {
        epoll.modify(descriptor, Epoll.IN | Epoll.ONESHOT, token);
    }

    /** Forgets a watch; the kernel has forgotten its descriptor when that was closed. */
    void remove(long token) {
        watches.remove(token);
    }

    private void run() {
        for (;;) {
            int n;
            try {
                n = epoll.await(-1);
            } catch (LinuxException e) {
                throw new IllegalStateException(e); // the descriptor was closed by somebody else
            }
            for (int i = 0; i < n; i++) {
                KernelWatch watch = watches.get(epoll.token(i));
                if (watch != null) {
                    watch.fire();
                }
            }
        }
    }
}
