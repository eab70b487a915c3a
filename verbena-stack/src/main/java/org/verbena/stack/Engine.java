// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.ClosedChannelException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.stack.ip.Counts;
import org.verbena.stack.ip.Ip;
import org.verbena.stack.kernel.KernelHost;
import org.verbena.stack.tcp.TcpPorts;
import org.verbena.stack.udp.UdpPorts;
import org.verbena.stack.wire.Capture;
import org.verbena.stack.wire.ReceivedFrame;
import org.verbena.stack.wire.Wire;
import org.verbena.verbs.VerbsException;

/**
 * What does the work of a stack: a receiver's thread while one polls, and else a thread of its own, which sleeps while nothing comes. All of the stack is under
 * one {@link #lock}.
 */
final class Engine {
    /** More than fits in a {@code long} of nanoseconds is not far. */
    private static final Duration LONGEST = Duration.ofDays(100_000);
    /** Frames that are taken with the lock held. */
    private static final int BATCH = 64;
    /** After this it is looked whether the stack was closed. */
    private static final long LONGEST_WAIT = 100_000_000L;
    /** Between looks whether the interface is still there. */
    private static final long LOOK_EVERY = 1_000_000_000L;
    /** Batches that a receiver takes in one go. */
    private static final int MOST_TURNS = 64;
    /** So long after a receiver has polled, the thread leaves the work to it. */
    private static final long LEAD = 1_000_000;
    /** So long {@link #close} waits for connections that were closed before. */
    private static final long LINGER = 3_000_000_000L;
    private static final long LINGER_LOOK = 5_000_000;
    private static final AtomicInteger NUMBER = new AtomicInteger();

    /** Has threads that sleep on a condition of the {@link #lock}. */
    sealed interface Sleeper permits UdpSocket, TcpSocket, TcpServer {
        /** Has all look what has changed; with the lock. */
        void wake();
    }

    final ReentrantLock lock = new ReentrantLock();
    final Counts counts = new Counts();
    final Ip ip;
    final UdpPorts udp;
    final TcpPorts tcp;

    private final Wire wire;
    private final @Nullable KernelHost host;
    private final long spin;
    private final Set<Sleeper> sleepers = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Thread thread;
    private final Condition left = lock.newCondition();
    /** Whether a receiver has polled last, and when; with the lock. */
    private boolean polled;
    private long lastPoll;
    /** Whether the thread sleeps, and until when; with the lock. */
    private boolean sleeps;
    private long wakes;
    private volatile boolean closed;
    private volatile @Nullable Throwable failure;
    /** With the lock. */
    private boolean wireClosed;
    private @Nullable Capture capture;

    /** With {@code host} if addresses and ports are the kernel's; {@link #close} closes that, too. */
    Engine(Wire wire, long mac, StackConfig config, @Nullable KernelHost host) {
        this.wire = wire;
        this.host = host;
        SecureRandom random = new SecureRandom();
        spin = config.spin();
        ip = host == null
                ? new Ip(wire, mac, config.ipv4(), config.ipv6(), counts, random)
                : new Ip(wire, mac, counts, random, host.links(), host.claims());
        udp = new UdpPorts(ip, counts, random);
        if (host != null) {
            host.deliver(udp::received);
        }
        tcp = new TcpPorts(ip, random, config.tcpMemory(), now());
        thread = Thread.ofPlatform().daemon().name("verbena-stack-" + NUMBER.incrementAndGet()).unstarted(this::work);
    }

    void start() {
        ip.start(now());
        thread.start();
    }

    long now() {
        return System.nanoTime();
    }

    /** Why an address has no way. */
    String whyNoWay() {
        return host == null
                ? ": it is in another subnet, and the stack has no gateway; or of IPv6, and the stack is not"
                : ": the kernel has no route there, or one by another interface, or from an address of another one";
    }

    /** For how many nanoseconds a receiver polls before it sleeps. */
    long spin() {
        return spin;
    }

    static long nanos(Duration timeout) {
        return timeout.isNegative() ? 0 : timeout.compareTo(LONGEST) > 0 ? Long.MAX_VALUE : timeout.toNanos();
    }

    /** With the lock, as {@link #remove}. */
    <S extends Sleeper> S add(S s) {
        sleepers.add(s);
        return s;
    }

    /** False if it was removed before. */
    boolean remove(Sleeper s) {
        return sleepers.remove(s);
    }

    /** Throws if frames are written to a file; with the lock, as the next two. */
    void requireNoCapture() throws IOException {
        if (capture != null) {
            throw new VerbsException("capture frames", Errno.EBUSY, "there is a capture already: close that first");
        }
    }

    /** Has frames written from now on. */
    void beginCapture(Capture c) {
        capture = c;
        wire.capture(c);
    }

    /** Ends it, if it goes on still. */
    void endCapture(Capture c) {
        if (capture == c) {
            capture = null;
            wire.capture(null);
        }
        c.close();
    }

    /** Each that was added; with the lock. */
    void forEach(Consumer<Sleeper> c) {
        sleepers.forEach(c);
    }

    /** Throws if nothing can come or go any more; with the lock. */
    void requireOpen() throws IOException {
        Throwable f = failure;
        if (f != null) {
            throw new IOException("the stack has failed: " + f.getMessage(), f);
        }
        if (closed) {
            throw new ClosedChannelException();
        }
    }

    private void work() {
        long looked = now();
        try {
            while (!closed && failure == null) {
                long wait = workLocked();
                if (wait > 0) {
                    wire.sleep(wait);
                } else if (lock.hasQueuedThreads()) {
                    LockSupport.parkNanos(1); // or a thread that sends or receives might not get it for long
                }
                if (now() - looked >= LOOK_EVERY) {
                    wire.requireLink();
                    looked = now();
                }
            }
        } catch (IOException | RuntimeException | Error e) {
            fail(e);
        }
    }

    /** Works if no receiver does; for how long to sleep then, 0 if not at all. */
    private long workLocked() throws IOException {
        lock.lock();
        try {
            sleeps = false;
            long since = now();
            while (isPolled() && now() - since < LOOK_EVERY) {
                left.awaitNanos(LEAD);
            }
            if (isPolled()) {
                return 0; // to look after the link
            }
            polled = false;
            long wait = closed ? 0 : Math.min(turn(now()), LONGEST_WAIT);
            if (wait <= 0 || !wire.arm()) {
                return 0;
            }
            sleeps = true;
            wakes = now() + wait;
            return wait;
        } catch (InterruptedException e) {
            return 0; // nobody has this thread
        } finally {
            lock.unlock();
        }
    }

    /** A thread of the program may have set a timer, or sent to this host: the engine's is woken if there is something to do before it wakes by itself. With the lock. */
    void touched() throws IOException {
        if (sleeps && (ip.hasOwn() || tcp.next() - wakes < 0)) {
            sleeps = false;
            wire.wake();
        }
    }

    /** A thread of the program has given IP something to do; with the lock. */
    void changed() {
        if (sleeps && isOpen()) {
            sleeps = false;
            try {
                wire.wake();
            } catch (IOException e) {
                fail(e);
            }
        }
    }

    /** Whether anything can be sent and received; with the lock. */
    boolean isOpen() {
        return !closed && failure == null;
    }

    private boolean isPolled() {
        return polled && !closed && now() - lastPoll < LEAD;
    }

    /** Does the work of the thread once, on that of a receiver; with the lock. */
    void poll() {
        if (closed || failure != null) {
            return; // whoever has called looks
        }
        polled = true;
        lastPoll = now();
        try {
            // What a device has handed over in one go nobody would be woken for.
            for (int i = 0; i < MOST_TURNS && turn(lastPoll) == 0; i++) {
                lastPoll = now();
            }
        } catch (IOException | RuntimeException | Error e) {
            fail(e);
        }
    }

    /** A receiver polls no more, and sleeps; with the lock. */
    void stopPolling() {
        if (polled) {
            polled = false;
            left.signal();
        }
    }

    /**
     * Waits for something to change, once: polls as long as receivers do, and then sleeps. With the lock, which others may have meanwhile.
     *
     * @param began when the caller began to wait
     * @param most nanoseconds that it waits in all; 0 for one look
     * @param tries how often it has waited since
     * @return false if the time is over
     */
    boolean await(Condition change, long began, long most, int tries) throws IOException {
        return await(change, began, most, tries, Long.MAX_VALUE);
    }

    /** As the other, for what does not wake: {@code nap} is the longest sleep until the caller looks again. */
    @SuppressWarnings("WaitNotInLoop") // its callers loop
    boolean await(Condition change, long began, long most, int tries, long nap) throws IOException {
        touched();
        if (most <= 0) {
            if (tries == 0) {
                poll();
            }
            return tries == 0;
        }
        long waited = now() - began;
        if (tries > 0 && waited >= most) {
            return false;
        }
        if (Thread.currentThread().isInterrupted()) {
            throw interrupted();
        }
        if (waited < spin) {
            if (tries > 0) {
                lock.unlock();
                Thread.onSpinWait();
                lock.lock();
            }
            poll();
            return true;
        }
        stopPolling();
        try {
            change.awaitNanos(Math.min(most - waited, nap));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw interrupted();
        }
        return true;
    }

    private static InterruptedIOException interrupted() {
        return new InterruptedIOException("interrupted while it waited for the stack");
    }

    private void fail(Throwable e) {
        lock.lock();
        try {
            if (failure == null) {
                failure = e;
                if (host != null) {
                    host.close(); // the kernel answers for the ports again
                }
            }
            wakeAll();
        } finally {
            lock.unlock();
        }
    }

    private void wakeAll() {
        sleepers.forEach(Sleeper::wake);
    }

    /** Takes what has come and does what is due; answers for how long nothing is to be done, 0 if more may have come. With the lock. */
    private long turn(long now) throws IOException {
        ip.takeOwn(now); // first, for it has buffers that others may need
        boolean more = true;
        for (int i = 0; more && i < BATCH; i++) {
            ReceivedFrame f = wire.receive();
            more = f != null;
            if (f != null) {
                try {
                    ip.input(f, now);
                } finally {
                    f.release();
                }
            }
        }
        long due = Math.min(ip.work(now), tcp.work(now));
        return more || ip.hasOwn() ? 0 : due == Long.MAX_VALUE ? LONGEST_WAIT : Math.max(due - now, 1);
    }

    /** Ends all; what connections that were closed have to send goes before, for a while. */
    void close() throws IOException {
        lock.lock();
        try {
            linger();
            closed = true;
            wakeAll();
            if (!wireClosed) {
                wire.wake();
            }
        } finally {
            lock.unlock();
        }
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        lock.lock(); // nobody sends meanwhile
        try {
            if (!wireClosed) {
                wireClosed = true;
                closeWire();
            }
        } finally {
            lock.unlock();
        }
    }

    private void linger() {
        long began = now();
        boolean interrupted = false;
        while (!closed && failure == null && tcp.isLingering() && now() - began < LINGER) {
            try {
                left.awaitNanos(LINGER_LOOK);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void closeWire() throws IOException {
        try {
            if (failure == null) {
                tcp.abortAll(now());
                udp.leaveGroups(now());
                ip.work(now());
            }
        } finally {
            if (capture != null) {
                endCapture(capture);
            }
            if (host != null) {
                host.close();
            }
            wire.close();
        }
    }
}
