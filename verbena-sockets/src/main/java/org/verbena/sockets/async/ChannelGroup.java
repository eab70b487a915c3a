// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.async;

import java.io.IOException;
import java.nio.channels.AsynchronousChannelGroup;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.ShutdownChannelGroupException;
import java.nio.channels.spi.AsynchronousChannelProvider;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import org.verbena.sockets.VerbenaSelectorProvider;

/**
 * Channels that share a pool of threads. One thread of its own finds out which of them are ready; the threads of the
 * pool then read, write, connect and accept, and call the completion handlers. Thread-safe.
 */
public final class ChannelGroup extends AsynchronousChannelGroup implements Executor {
    /** How long the group waits when there is no thread for what it found. */
    private static final long NAP_NANOS = 1_000_000;

    private final ExecutorService pool;
    private final Selector selector;

    // What follows is guarded by this.

    private final Set<Membership> members = new HashSet<>();
    private @Nullable ScheduledThreadPoolExecutor timers;
    /** Threads that wait for the selector to forget a channel that they closed. */
    private int forgetting;

    private volatile boolean shutdown;
    private volatile boolean ending;

    private ChannelGroup(AsynchronousChannelProvider provider, ExecutorService pool, Selector selector) {
        super(provider);
        this.pool = pool;
        this.selector = selector;
    }

    /** The group of channels that are given none. */
    public static ChannelGroup ofDefault(AsynchronousChannelProvider provider) throws IOException {
        return started(provider, Pool.ofDefaultGroup(), true);
    }

    /**
     * With a pool of a fixed number of threads.
     *
     * @throws IllegalArgumentException if there are to be none
     */
    public static ChannelGroup fixed(AsynchronousChannelProvider provider, int threads, ThreadFactory factory)
            throws IOException {
        return started(provider, Pool.fixed(threads, factory), true);
    }

    /**
     * With a pool of the program's, which is shut down with the group.
     *
     * @param initialSize how many threads the pool is to have from the beginning, which may keep the program alive
     */
    public static ChannelGroup over(AsynchronousChannelProvider provider, ExecutorService pool, int initialSize)
            throws IOException {
        ChannelGroup group = started(provider, Objects.requireNonNull(pool), false);
        try {
            Pool.begin(pool, initialSize);
        } catch (RuntimeException | Error e) {
            group.shutdownNow();
            throw e;
        }
        return group;
    }

    private static ChannelGroup started(AsynchronousChannelProvider provider, ExecutorService pool, boolean own)
            throws IOException {
        Selector selector = null;
        try {
            selector = VerbenaSelectorProvider.instance().openSelector();
            ChannelGroup group = new ChannelGroup(provider, pool, selector);
            Pool.daemon(group::select).start();
            return group;
        } catch (IOException | RuntimeException | Error e) {
            if (own) {
                pool.shutdown();
            }
            if (selector != null) {
                selector.close();
            }
            throw e;
        }
    }

    // -- the thread that selects

    private void select() {
        Found found = new Found();
        try {
            while (!ending) {
                awaitForgotten();
                select(found, true);
                if (!found.dispatch()) {
                    LockSupport.parkNanos(NAP_NANOS);
                }
            }
        } finally {
            end();
        }
    }

    /** Lets threads that deregister a channel go first. */
    private synchronized void awaitForgotten() {
        Thread.interrupted(); // by code that interrupts all threads; it would end each selection
        while (forgetting > 0) {
            try {
                wait();
            } catch (InterruptedException e) {
                // the same
            }
        }
    }

    private void select(Found found, boolean wait) {
        try {
            if (wait) {
                selector.select(found);
            } else {
                selector.selectNow(found);
            }
        } catch (IOException e) {
            // a channel that was closed could not be released in order: the others go on
        }
    }

    /** The keys of a selection: they are processed when the selector's locks are free again. */
    private static final class Found implements Consumer<SelectionKey> {
        private final List<Membership> members = new ArrayList<>();
        private final List<Integer> readyOps = new ArrayList<>();

        @Override
        public void accept(SelectionKey key) {
            try {
                int ops = key.readyOps();
                key.interestOpsAnd(~ops);
                members.add((Membership) key.attachment());
                readyOps.add(ops);
            } catch (CancelledKeyException e) {
                // close ends pending operations
            }
        }

        /** False if there was no thread for one just now, which is found again. */
        boolean dispatch() {
            boolean all = true;
            for (int i = 0; i < members.size(); i++) {
                try {
                    members.get(i).ready(readyOps.get(i));
                } catch (RuntimeException | Error e) { // of the executor, be it the program's or out of threads
                    members.get(i).again(readyOps.get(i));
                    all = false;
                }
            }
            members.clear();
            readyOps.clear();
            return all;
        }
    }

    /** After the last selection: descriptors are free before the group counts as terminated. */
    private void end() {
        try {
            shutdownNow(); // an error may have ended the thread
            selector.close();
        } catch (IOException e) {
            // of a channel whose connection had gone; all others are released
        } finally {
            synchronized (this) {
                if (timers != null) {
                    timers.shutdown();
                }
            }
            pool.shutdown();
        }
    }

    // -- for channels

    Selector selector() {
        return selector;
    }

    void wakeup() {
        selector.wakeup();
    }

    /**
     * Has the selector let go of a channel that is closed. A listener's port is free for others when this returns; the
     * peer of a connection was informed of its end before.
     */
    void forget(SelectableChannel channel) {
        if (!(channel instanceof ServerSocketChannel)) {
            wakeup();
            return;
        }
        Found found = new Found();
        synchronized (this) {
            forgetting++; // the thread that selects does not begin anew before this one has had its turn
        }
        wakeup();
        try {
            select(found, false);
        } catch (ClosedSelectorException e) {
            // the group has ended, and its selector has let go of all channels
        } finally {
            synchronized (this) {
                forgetting--;
                notifyAll();
            }
            wakeup(); // what was meant for the other thread may have ended this selection
        }
        found.dispatch();
    }

    /** @throws ShutdownChannelGroupException if the group takes no more */
    synchronized void add(Membership member) {
        if (shutdown) {
            throw new ShutdownChannelGroupException();
        }
        members.add(member);
    }

    void remove(Membership member) {
        boolean last;
        synchronized (this) {
            last = members.remove(member) && members.isEmpty() && shutdown;
        }
        if (last) {
            beginEnd();
        }
    }

    /** Runs a task later; null if the group ends, and no time is to be measured any more. */
    @Nullable
    Future<?> schedule(Runnable task, long timeout, TimeUnit unit) {
        ScheduledThreadPoolExecutor t;
        synchronized (this) {
            if (ending) {
                return null;
            }
            if (timers == null) {
                timers = new ScheduledThreadPoolExecutor(1, Pool::daemon);
                timers.setRemoveOnCancelPolicy(true);
            }
            t = timers;
        }
        try {
            return t.schedule(task, timeout, unit);
        } catch (RejectedExecutionException e) {
            return null;
        }
    }

    /**
     * Calls the handler of a request that has ended: in this thread if it may, runs a task of this group and has not
     * called too many, else in the pool.
     *
     * @throws ShutdownChannelGroupException if there is no thread to call it in
     */
    void call(Request<?> request, boolean atOnce) {
        GroupThread t = atOnce ? GroupThread.of(this) : null;
        if (t != null && t.hasRoom()) {
            t.call(request);
            return;
        }
        try {
            execute(request);
        } catch (RejectedExecutionException e) {
            if (t == null) {
                throw new ShutdownChannelGroupException();
            }
            t.call(request);
        }
    }

    /** Runs a task in the pool, as one of the group. */
    @Override
    public void execute(Runnable task) {
        pool.execute(() -> GroupThread.run(this, task));
    }

    // -- the end

    @Override
    public boolean isShutdown() {
        return shutdown;
    }

    @Override
    public boolean isTerminated() {
        return pool.isTerminated();
    }

    @Override
    public void shutdown() {
        boolean last;
        synchronized (this) {
            last = !shutdown && members.isEmpty();
            shutdown = true;
        }
        if (last) {
            beginEnd();
        }
    }

    /** It ends when the last channel is closed, by any thread: until then handlers are called. */
    @Override
    public void shutdownNow() {
        synchronized (this) {
            shutdown = true;
        }
        closeAll();
        boolean last;
        synchronized (this) {
            last = members.isEmpty();
        }
        if (last) {
            beginEnd();
        }
    }

    /** The thread that selects does the rest. */
    private void beginEnd() {
        ending = true;
        wakeup();
    }

    private void closeAll() {
        List<Membership> all;
        synchronized (this) {
            all = List.copyOf(members);
        }
        for (Membership m : all) {
            m.closeQuietly();
        }
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
        return pool.awaitTermination(timeout, unit);
    }
}
