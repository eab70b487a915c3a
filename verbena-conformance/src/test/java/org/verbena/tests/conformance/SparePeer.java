// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

import org.jspecify.annotations.Nullable;

/**
 * The second JVM of the next test that wants one, started while the tests before it run: a suite of which a hundred tests
 * kill their peers does not wait for each to start. Until its first job it does nothing, and has nothing of Verbena's open.
 */
final class SparePeer {
    private static @Nullable FutureTask<PeerProcess> next;
    private static @Nullable Class<?> fixtureOfNext;

    private SparePeer() {}

    /** A fresh JVM, and has the next one started. */
    static synchronized PeerProcess take(Class<?> fixture) {
        if (fixtureOfNext != fixture) {
            end();
        }
        PeerProcess ready = next == null ? null : result(next);
        next = null;
        PeerProcess taken = ready != null && ready.isAlive() ? ready : start(fixture);
        FutureTask<PeerProcess> task = new FutureTask<>(() -> start(fixture));
        Thread.ofPlatform().daemon().name("conformance-spare").start(task);
        next = task;
        fixtureOfNext = fixture;
        return taken;
    }

    /** Ends the one that nobody has wanted. */
    static synchronized void end() {
        FutureTask<PeerProcess> task = next;
        next = null;
        fixtureOfNext = null;
        PeerProcess unused = task == null ? null : result(task);
        if (unused != null) {
            unused.close();
        }
    }

    private static PeerProcess start(Class<?> fixture) {
        return PeerProcess.start(fixture, System.getProperty("java.class.path"), List.of());
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
