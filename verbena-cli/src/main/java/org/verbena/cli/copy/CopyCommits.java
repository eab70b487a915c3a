// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.copy;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;

import org.jspecify.annotations.Nullable;

/**
 * The files of one connection that are being made durable on other threads: with small files that takes longest. Used
 * by one thread.
 */
final class CopyCommits {
    /** How often to check for files that have become durable. */
    static final Duration LOOK = Duration.ofMillis(1);

    private static final int MAX_PENDING = 2 * CopyProtocol.RESULTS_AHEAD;

    private final Executor disk;
    private final ConcurrentLinkedQueue<Committed> done = new ConcurrentLinkedQueue<>();
    private final Set<Path> unsynced = new LinkedHashSet<>();
    private int pending;

    /** The end of a file, for the sender and for the listener's own report. */
    record Committed(CopyMessage.Result result, CopyReport.Outcome outcome, Path directory) {}

    CopyCommits(Executor disk) {
        this.disk = disk;
    }

    boolean isEmpty() {
        return pending == 0;
    }

    boolean isFull() {
        return pending >= MAX_PENDING;
    }

    /** Hands over a complete and verified file, which is closed then. */
    void submit(CopyTarget target, long began) {
        pending++;
        disk.execute(() -> done.add(commit(target, began)));
    }

    private static Committed commit(CopyTarget t, long began) {
        CopyMessage.File source = t.source();
        CopyFailure failure = null;
        try (t) {
            try {
                t.commit();
            } catch (IOException e) {
                t.discard();
                throw e;
            }
        } catch (IOException e) {
            failure = CopyFailure.at(t.place().parent(), "the listener cannot write \"" + source.path() + "\"", e);
        } catch (RuntimeException e) {
            failure = new CopyFailure(CopyStatus.FAILED, "the listener cannot write \"" + source.path() + "\": " + e,
                    e);
        }
        if (failure != null) {
            return new Committed(result(source.id(), failure), outcome(source, failure), t.place().parent());
        }
        double seconds = (System.nanoTime() - began) / 1e9;
        return new Committed(new CopyMessage.Result(source.id(), CopyStatus.OK, t.resumedFrom(), ""),
                new CopyReport.Outcome(source.path().toString(), false, source.size(), seconds, t.sha256().hex(),
                        t.resumedFrom(), CopyStatus.OK, ""),
                t.place().parent());
    }

    /** A file that has ended; null if none has since the last call. */
    @Nullable
    Committed poll() {
        Committed c = done.poll();
        if (c != null) {
            pending--;
            unsynced.add(c.directory());
        }
        return c;
    }

    /** Waits a moment. */
    static void pause() {
        try {
            Thread.sleep(LOOK);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** A directory was made: its own entry has to become durable as well. */
    void made(Path directory) {
        Path parent = directory.getParent();
        if (parent != null) {
            unsynced.add(parent);
        }
    }

    /** Makes the entries of all directories that got files durable. */
    void sync(CopyTarget.Tick tick) throws CopyFailure {
        for (Path directory : unsynced) {
            try {
                CopyTree.sync(directory);
            } catch (IOException e) {
                // not supported by some file systems: then their entries are as durable as they make them
            }
            tick.tick();
        }
        unsynced.clear();
    }

    static CopyMessage.Result result(int id, CopyFailure f) {
        return new CopyMessage.Result(id, f.status(), 0, f.sentence());
    }

    static CopyReport.Outcome outcome(CopyMessage.File m, CopyFailure f) {
        return new CopyReport.Outcome(m.path().toString(), false, m.size(), 0, null, 0, f.status(), f.sentence());
    }
}
