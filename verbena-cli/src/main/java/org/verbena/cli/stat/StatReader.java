// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.verbs.ObjectType;
import org.verbena.verbs.ReadCountersFlags;
import org.verbena.verbs.RemoteObject;
import org.verbena.verbs.RemoteProcess;
import org.verbena.verbs.VerbsException;

/** Samples processes: one read of all objects per sample. Not safe for use by several threads. */
public final class StatReader implements ScreenView.Source<StatSnapshot>, AutoCloseable {
    private static final int[] NO_POINTS = {};
    private static final long[] NO_VALUES = {};

    private final boolean cached;
    private final boolean sockets;
    /** Processes that do not answer delay no others. */
    private final ExecutorService threads = Executors.newThreadPerTaskExecutor(
            Thread.ofPlatform().daemon().name("look").factory());
    private @Nullable RemoteProcess watched;

    /**
     * Makes a reader.
     *
     * @param cached true to take the values in the files, and ask no process
     * @param sockets true to include the sockets of all processes
     */
    public StatReader(boolean cached, boolean sockets) {
        this.cached = cached;
        this.sockets = sockets;
    }

    /** All processes, with their devices and ports, and with their sockets if these are wanted. */
    public StatSnapshot all() throws VerbsException, InterruptedException {
        return all(sockets);
    }

    /** The same, whether sockets are wanted or not. */
    StatSnapshot all(boolean withSockets) throws VerbsException, InterruptedException {
        Instant time = Instant.now();
        List<String> problems = new ArrayList<>();
        Set<Long> missed = new HashSet<>();
        List<StatProcess> found = new ArrayList<>();
        List<RemoteProcess> processes = RemoteProcess.list(e -> problems.add(String.valueOf(e.getMessage())));
        try {
            List<Future<StatProcess>> looks = new ArrayList<>();
            for (RemoteProcess p : processes) {
                looks.add(threads.submit(() -> look(p, o -> isOfAll(o, withSockets))));
            }
            for (int i = 0; i < looks.size(); i++) {
                try {
                    found.add(looks.get(i).get());
                } catch (ExecutionException e) {
                    if (!(e.getCause() instanceof VerbsException v)) {
                        throw new IllegalStateException(e.getCause());
                    }
                    if (v.errno() != Errno.ESRCH) {
                        problems.add(String.valueOf(v.getMessage()));
                        missed.add(processes.get(i).pid());
                    }
                }
            }
        } finally {
            processes.forEach(RemoteProcess::close);
        }
        return new StatSnapshot(time, found, problems, missed);
    }

    /**
     * One process, with all its objects; the same one each time.
     *
     * @throws StatFailure.Ended if it has ended since the first sample
     */
    public StatSnapshot one(long pid) throws VerbsException, StatFailure.Ended {
        RemoteProcess last = watched;
        boolean first = last == null || last.pid() != pid;
        RemoteProcess p = last == null || first ? reopen(pid) : last;
        Instant time = Instant.now();
        try {
            return new StatSnapshot(time, List.of(look(p, o -> true)), List.of());
        } catch (VerbsException e) {
            if (e.errno() == Errno.ESRCH && !first) {
                throw new StatFailure.Ended("process " + pid + " has ended");
            }
            throw e;
        }
    }

    private RemoteProcess reopen(long pid) throws VerbsException {
        forget();
        RemoteProcess p = RemoteProcess.open(pid);
        watched = p;
        return p;
    }

    /** A process, or all of them: what a {@link StatView} wants. */
    @Override
    public StatSnapshot look(long wanted) throws VerbsException, StatFailure.Ended, InterruptedException {
        return wanted > 0 ? one(wanted) : all(wanted == StatView.SOCKETS_OF_ALL);
    }

    @Override
    public void forget() {
        RemoteProcess p = watched;
        if (p != null) {
            p.close();
        }
        watched = null;
    }

    private static boolean isOfAll(RemoteObject o, boolean withSockets) {
        return o.type() == ObjectType.PORT || o.type() == ObjectType.DEVICE || withSockets && StatSocketTable.TYPES
                .contains(o.type());
    }

    private StatProcess look(RemoteProcess p, Predicate<RemoteObject> wanted) throws VerbsException {
        boolean exact = !cached;
        List<RemoteObject> objects;
        try {
            objects = p.objects(exact ? 0 : ReadCountersFlags.PREFER_CACHED);
        } catch (VerbsException e) {
            if (!exact || e.errno() != Errno.ETIMEDOUT) {
                throw e;
            }
            exact = false;
            objects = p.objects(ReadCountersFlags.PREFER_CACHED);
        }
        return process(p, !exact, !exact && !cached, objects, wanted);
    }

    private static StatProcess process(RemoteProcess p, boolean cached, boolean silent, List<RemoteObject> objects,
            Predicate<RemoteObject> wanted) {
        long nanos = System.nanoTime();
        Map<Integer, Integer> kinds = new TreeMap<>();
        objects.forEach(o -> kinds.merge(o.type(), 1, Integer::sum));
        List<RemoteObject> kept = objects.stream().filter(wanted).toList();
        List<String> names = StatNames.distinct(
                kept.stream().map(o -> StatNames.plain(o.type(), o.number(), o.device())).toList(),
                kept.stream().map(RemoteObject::id).toList());
        List<StatObject> made = new ArrayList<>();
        for (int i = 0; i < kept.size(); i++) {
            made.add(object(kept.get(i), names.get(i)));
        }
        made.sort(StatProcess.ORDER);
        return new StatProcess(p.pid(), command(p), p.created(), nanos, cached, silent, kinds, made);
    }

    /** Its whole command line: the process itself publishes a truncated one if the class path is long. */
    private static String command(RemoteProcess p) {
        try {
            byte[] words = Files.readAllBytes(Path.of("/proc/" + p.pid() + "/cmdline"));
            return words.length == 0
                    ? p.command()
                    : new String(words, StandardCharsets.UTF_8).replace('\0', ' ').strip();
        } catch (IOException e) {
            return p.command();
        }
    }

    private static StatObject object(RemoteObject o, String name) {
        int[] points = o.type() == ObjectType.PD ? NO_POINTS : o.samplePoints();
        long[] values = points.length == 0 ? NO_VALUES : new long[points.length];
        for (int i = 0; i < points.length; i++) {
            values[i] = o.value(points[i]);
        }
        return new StatObject(o.id(), name, o.type(), o.number(), o.context(), o.device(), o.state(), o.created(),
                o.attributes(), points, values);
    }

    @Override
    public void close() {
        forget();
        threads.shutdownNow();
    }
}
