// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import java.lang.ref.WeakReference;
import java.util.Arrays;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Epoll;
import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.ServiceThread;

/**
 * The thread that sleeps at the inner selectors of all {@link KernelWatch}es that are armed. There is one; it starts with the
 * first, and does not allocate.
 */
final class WatchThread {
    private static @Nullable WatchThread instance;

    /**
     * A watch, of a selector that the program may have dropped without closing it.
     *
     * @param token the number of the entry in its upper half, its place in the lower: a place is used again
     */
    private record Entry(long token, WeakReference<KernelWatch> watch) {}

    private final Epoll epoll;
    /** Copied when it is to grow; written under this object's monitor. */
    private volatile @Nullable Entry[] entries = new @Nullable Entry[8];
    private long added;
    /** The thread has ended, and fires nothing any more. */
    private volatile boolean ended;

    private WatchThread(Epoll epoll) {
        this.epoll = epoll;
    }

    /** @throws LinuxException if the system gives no descriptor for it */
    static synchronized WatchThread get() throws LinuxException {
        WatchThread one = instance;
        if (one == null) {
            Epoll epoll = Epoll.create();
            boolean started = false;
            try {
                one = new WatchThread(epoll);
                ServiceThread.start("verbena-selector-watch", one::run);
                started = true;
            } finally {
                if (!started) {
                    epoll.close();
                }
            }
            instance = one;
        }
        return one;
    }

    /** Adds the descriptor of an inner selector, and fires its watch once; returns the number for {@link #arm}. */
    long add(Fd descriptor, KernelWatch watch) throws LinuxException {
        long token = enter(watch);
        boolean watched = false;
        try {
            epoll.add(descriptor, Epoll.IN | Epoll.ONESHOT, token);
            checkAlive();
            watched = true;
        } finally {
            if (!watched) {
                remove(token);
            }
        }
        return token;
    }

    private synchronized long enter(KernelWatch watch) {
        int place = 0;
        while (place < entries.length && isUsed(entries[place])) {
            place++;
        }
        @Nullable Entry[] all = place < entries.length ? entries : Arrays.copyOf(entries, 2 * entries.length);
        long token = ++added << 32 | place;
        all[place] = new Entry(token, new WeakReference<>(watch));
        entries = all;
        return token;
    }

    private static boolean isUsed(@Nullable Entry entry) {
        return entry != null && entry.watch.get() != null;
    }

    /** Fires the watch once more, at once if there is something to report already. */
    void arm(Fd descriptor, long token) throws LinuxException {
        epoll.modify(descriptor, Epoll.IN | Epoll.ONESHOT, token);
        checkAlive();
    }

    private void checkAlive() throws LinuxException {
        if (ended) {
            throw new LinuxException("epoll_wait(fd " + epoll.fd() + ")", Errno.EBADF);
        }
    }

    /** Forgets a watch; the kernel has forgotten its descriptor when that was closed. */
    synchronized void remove(long token) {
        Entry entry = entries[(int) token];
        if (entry != null && entry.token == token) {
            entries[(int) token] = null;
        }
    }

    private void run() {
        try {
            for (;;) {
                int n = epoll.await(-1);
                for (int i = 0; i < n; i++) {
                    fire(epoll.token(i));
                }
            }
        } catch (LinuxException e) {
            throw new IllegalStateException("somebody has closed a descriptor that is not theirs", e);
        } finally { // so no thread sleeps at a bell that this one would ring
            ended = true;
            for (Entry entry : entries) {
                if (entry != null) {
                    fire(entry.token);
                }
            }
        }
    }

    private void fire(long token) {
        Entry entry = entries[(int) token];
        KernelWatch watch = entry == null || entry.token != token ? null : entry.watch.get();
        if (watch != null) {
            watch.fire();
        }
    }
}
