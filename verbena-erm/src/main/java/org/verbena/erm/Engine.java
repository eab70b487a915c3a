// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Epoll;
import org.verbena.linux.Eventfd;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.ServiceThread;
import org.verbena.verbs.CompletionChannel;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.Context;
import org.verbena.verbs.VerbsException;

/**
 * The progress thread of the remote memory of this process: it receives the messages of peers and wakes waiting
 * threads. It starts with the first connection that asks for remote memory, and sleeps when idle. Blocking work is done
 * by threads of three small pools.
 */
final class Engine implements ProgressExecutor {
    private static final System.Logger LOG = System.getLogger("org.verbena.erm");

    /** A connecting thread waits for an accepting one, maybe in the same process; so they use separate pools. */
    static final ThreadPoolExecutor CONNECTORS = pool("verbena-erm-connect");
    static final ThreadPoolExecutor ACCEPTORS = pool("verbena-erm-accept");
    /** A closing thread may wait for a stopped process. */
    static final ThreadPoolExecutor CLOSERS = pool("verbena-erm-close");

    /** The common pool. */
    private static final Executor CALLBACKS = new CompletableFuture<Void>().defaultExecutor();
    private static final int POOL_THREADS = 4;
    private static final long WAKE = -1;

    private static final class Holder {
        private static @Nullable Engine engine;
        private static volatile String failure = "";

        private Holder() {}

        static synchronized Engine start() throws LinuxException {
            Engine started = engine;
            if (started == null) {
                try {
                    started = new Engine();
                } catch (LinuxException e) {
                    failure = "this process cannot begin with it: " + e.getMessage();
                    throw e;
                }
                failure = "";
                ServiceThread.start("verbena-erm-engine", started::run);
                engine = started;
            }
            return started;
        }
    }

    /**
     * A task that the engine {@linkplain #run runs} once for any number of requests before that; scheduling it
     * allocates nothing.
     */
    abstract static class CoalescedTask {
        private final AtomicBoolean scheduled = new AtomicBoolean();
        private @Nullable CoalescedTask next;

        abstract void run();
    }

    private final Epoll epoll;
    private final Fd wake;
    private final Queue<Runnable> jobs = new ConcurrentLinkedQueue<>();
    private final AtomicReference<@Nullable CoalescedTask> tasks = new AtomicReference<>();
    private final AtomicBoolean awake = new AtomicBoolean(true);
    private final Map<Context, CompletionChannel> channels = new HashMap<>();
    /** By the number in their events. */
    private final List<CompletionChannel> watched = new CopyOnWriteArrayList<>();

    private Engine() throws LinuxException {
        epoll = Epoll.create();
        try {
            wake = Eventfd.create();
            epoll.add(wake, Epoll.IN, WAKE);
        } catch (LinuxException e) {
            epoll.close();
            throw e;
        }
    }

    private static ThreadPoolExecutor pool(String name) {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(POOL_THREADS, POOL_THREADS, 5, TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(), task -> ServiceThread.of(name, task));
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    /** The engine of this process. */
    static Engine get() throws LinuxException {
        return Holder.start();
    }

    /** Why the last start failed, as a sentence; empty if it succeeded. */
    static String startFailure() {
        return Holder.failure;
    }

    static void debug(String what) {
        LOG.log(System.Logger.Level.DEBUG, what);
    }

    static void warn(String what) {
        LOG.log(System.Logger.Level.WARNING, what);
    }

    @Override
    public void submit(Runnable job) {
        jobs.add(job);
        wakeUp();
    }

    /** {@inheritDoc} It runs once for any number of calls before that. */
    @Override
    public void schedule(CoalescedTask task) {
        if (!task.scheduled.compareAndSet(false, true)) {
            return;
        }
        CoalescedTask first;
        do {
            first = tasks.get();
            task.next = first;
        } while (!tasks.compareAndSet(first, task));
        wakeUp();
    }

    @Override
    public void executeBlocking(Runnable task) {
        CLOSERS.execute(task);
    }

    @Override
    public void executeLong(Runnable task) {
        Thread.ofVirtual().name("verbena-erm-await").start(task);
    }

    @Override
    public void executeCallback(Runnable callback) {
        CALLBACKS.execute(callback);
    }

    @Override
    public void pause(long nanos) {
        LockSupport.parkNanos(nanos);
    }

    @Override
    public @Nullable Integer awaitReply(Future<Integer> answer, long nanos) {
        boolean interrupted = false;
        long end = System.nanoTime() + nanos;
        try {
            while (true) {
                try {
                    return answer.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (TimeoutException e) {
                    return null;
                } catch (ExecutionException e) {
                    throw new IllegalStateException(e);
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void wakeUp() {
        if (!awake.get() && awake.compareAndSet(false, true)) {
            Eventfd.signalQuietly(wake.value());
        }
    }

    /**
     * The completion channel of a context that this thread waits on; created at the first call. The user context of its
     * completion queues is a {@link Runnable} to run at an event.
     */
    synchronized CompletionChannel channel(Context context) throws VerbsException {
        CompletionChannel channel = channels.get(context);
        if (channel == null) {
            channel = context.createCompletionChannel();
            watched.add(channel);
            try {
                epoll.add(Fd.of(channel.descriptor()), Epoll.IN, watched.size() - 1L);
            } catch (LinuxException e) {
                watched.removeLast();
                channel.close();
                throw new VerbsException("watch " + channel.describe(), e);
            }
            channels.put(context, channel);
        }
        return channel;
    }

    private void run() {
        while (true) {
            try {
                runOnce();
            } catch (LinuxException | VerbsException | RuntimeException | Error e) {
                LOG.log(System.Logger.Level.ERROR, "the engine of remote memory", e);
            }
        }
    }

    private void runOnce() throws LinuxException, VerbsException {
        Runnable job;
        while ((job = jobs.poll()) != null) {
            job.run();
        }
        CoalescedTask task = tasks.getAndSet(null);
        while (task != null) {
            CoalescedTask next = task.next;
            task.next = null;
            task.scheduled.set(false); // before it runs: a request from now on schedules it again
            task.run();
            task = next;
        }
        awake.set(false);
        if (!jobs.isEmpty() || tasks.get() != null) {
            awake.set(true);
            return;
        }
        int n = epoll.await(-1);
        awake.set(true);
        for (int i = 0; i < n; i++) {
            long token = epoll.token(i);
            if (token == WAKE) {
                Eventfd.drain(wake);
            } else {
                dispatch(watched.get((int) token));
            }
        }
    }

    private static void dispatch(CompletionChannel channel) throws VerbsException {
        CompletionQueue queue;
        while ((queue = channel.await(Duration.ZERO)) != null) {
            if (queue.userContext() instanceof Runnable callback) {
                callback.run();
            }
        }
    }
}
