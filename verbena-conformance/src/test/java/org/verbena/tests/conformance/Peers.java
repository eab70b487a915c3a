// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

import org.jspecify.annotations.Nullable;

import org.verbena.testkit.Thorough;

/**
 * The second JVMs of a suite, by its fixture, for suites run beside each other. One is shared, for to start one takes
 * time; what a test borrows beside it goes on to later tests. The next that a test wants for itself is started while the
 * tests before it run: a suite of which many tests kill their peers does not wait for each to start. Until its first job
 * it does nothing, and has nothing of Verbena's open.
 */
final class Peers {
    private static final Map<Class<?>, Peers> ALL = new ConcurrentHashMap<>();

    private final Class<?> fixture;
    private final List<PeerProcess> released = new ArrayList<>();
    private final Deque<PeerProcess> idle = new ArrayDeque<>();
    private @Nullable PeerProcess shared;
    private @Nullable FutureTask<PeerProcess> next;

    private Peers(Class<?> fixture) {
        this.fixture = fixture;
    }

    static Peers of(ConformanceFixture fixture) {
        return ALL.computeIfAbsent(fixture.getClass(), Peers::new);
    }

    /** Ends all of a fixture, at the end of a suite. */
    static void end(ConformanceFixture fixture) {
        Peers p = ALL.remove(fixture.getClass());
        if (p != null) {
            p.close();
        }
    }

    /** The one that the tests share; a new one if that has died. */
    synchronized PeerProcess shared() {
        PeerProcess p = shared;
        if (p == null || !p.isAlive()) {
            p = fresh();
            shared = p;
        }
        return p;
    }

    /** One that no other test uses until it is given back; with {@code -Dthorough} a fresh one. */
    synchronized PeerProcess borrow() {
        while (!idle.isEmpty()) {
            PeerProcess p = idle.pop();
            if (p.isAlive()) {
                return p;
            }
        }
        return fresh();
    }

    /** Keeps one for the next test, if it has nothing left of this one; else has it end. */
    synchronized void giveBack(PeerProcess p, boolean passed) {
        if (passed && !Thorough.ON && p.isAlive() && p.isIdle()) {
            idle.push(p);
        } else {
            release(p);
        }
    }

    /** Has the shared one end after a test that has failed: the next gets a fresh one. */
    synchronized void endShared() {
        PeerProcess p = shared;
        shared = null;
        if (p != null) {
            release(p);
        }
    }

    /** A fresh JVM, and has the next one started. */
    synchronized PeerProcess fresh() {
        PeerProcess ready = next == null ? null : result(next);
        next = null;
        PeerProcess taken = ready != null && ready.isAlive() ? ready : start();
        FutureTask<PeerProcess> task = new FutureTask<>(this::start);
        Thread.ofPlatform().daemon().name("conformance-spare").start(task);
        next = task;
        return taken;
    }

    /** Has one end that a test has done with, while the next tests run. */
    synchronized void release(PeerProcess p) {
        p.release();
        released.removeIf(other -> !other.isAlive());
        released.add(p);
    }

    private synchronized void close() {
        released.forEach(PeerProcess::close);
        idle.forEach(PeerProcess::close);
        PeerProcess unused = next == null ? null : result(next);
        if (unused != null) {
            unused.close();
        }
        if (shared != null) {
            shared.close();
        }
    }

    private PeerProcess start() {
        return PeerProcess.start(fixture, PeerArchive.classPath(), List.of());
    }

    /** What was started; null if it could not be, which a start at once then shows or not. */
    private static @Nullable PeerProcess result(FutureTask<PeerProcess> task) {
        try {
            return task.get();
        } catch (ExecutionException e) {
            return null;
        } catch (InterruptedException e) {
            throw new AssertionError("interrupted", e);
        }
    }
}
