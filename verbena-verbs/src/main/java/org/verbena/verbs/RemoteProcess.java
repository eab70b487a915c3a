// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Sys;
import org.verbena.verbs.spi.CounterFile;
import org.verbena.verbs.spi.CounterFolder;

/**
 * A process that uses Verbena, seen from another one: its verbs objects and what they have counted. What may be seen is
 * what the operating system lets this user read: his own processes, everybody's for root.
 *
 * {@snippet :
 * try (RemoteProcess process = RemoteProcess.open(pid); Counters counters = process.createCounters()) {
 *     for (RemoteObject o : process.objects(0)) {
 *         if (o.type() == ObjectType.PORT) {
 *             counters.attach(CounterAttachAttributes.of(SamplePoint.PORT + SamplePoint.QP_TX_BYTES, 0), o);
 *         }
 *     }
 * }
 * }
 *
 * <p>Looking costs the process nothing, except that it gathers what its peers have counted when exact values are asked for.
 * It may end at any time: {@link #isAlive()} tells, objects are gone then, and counters keep what they have read last.
 * Safe for use by several threads.
 */
public final class RemoteProcess implements AutoCloseable {
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** More ports than any process has. */
    private static final int MAX_PORTS = 4096;

    private final CounterSource source;
    private volatile boolean closed;
    private volatile List<EntryView> ports = List.of();

    private RemoteProcess(CounterSource source) {
        this.source = source;
    }

    /**
     * The processes that use Verbena now and that may be seen, by number. Files that processes left behind when they were
     * killed are removed. What cannot be read is left out; {@link #list(Consumer)} tells of it.
     *
     * @return open ones, to be closed by the caller
     * @throws VerbsException if the folder cannot be read at all
     */
    public static List<RemoteProcess> list() throws VerbsException {
        return list(problem -> {});
    }

    /**
     * As {@link #list()}.
     *
     * @param problems is told of each file that is not what it should be, or may not be read
     */
    public static List<RemoteProcess> list(Consumer<? super VerbsException> problems) throws VerbsException {
        List<RemoteProcess> found = new ArrayList<>();
        try {
            for (CounterFolder folder : CounterFolder.all()) {
                for (Path file : files(folder, problems)) {
                    try {
                        found.add(new RemoteProcess(CounterFileReader.open(file, folder.uid())));
                    } catch (VerbsException e) {
                        if (Files.exists(file)) {
                            problems.accept(e);
                        }
                    }
                }
            }
        } catch (IOException e) {
            found.forEach(RemoteProcess::close);
            throw new VerbsException("list processes", Errno.EIO, String.valueOf(e.getMessage()));
        }
        found.sort(Comparator.comparingLong(RemoteProcess::pid));
        return found;
    }

    private static List<Path> files(CounterFolder folder, Consumer<? super VerbsException> problems) {
        String verb = "list the processes in " + folder.path();
        try {
            folder.check();
            if (folder.uid() == Sys.uid()) {
                folder.sweep();
            }
            return folder.files().stream().filter(f -> !CounterFolder.isLeftBehind(f)).toList();
        } catch (NoSuchFileException e) {
            return List.of();
        } catch (AccessDeniedException e) {
            // another user's: he may be looked at by himself and by root
        } catch (LinuxException e) {
            if (e.errno() != Errno.EACCES && e.errno() != Errno.ENOENT) {
                problems.accept(new VerbsException(verb, e));
            }
        } catch (IOException e) {
            problems.accept(new VerbsException(verb, Errno.EPERM, String.valueOf(e.getMessage())));
        }
        return List.of();
    }

    /**
     * A process by its number.
     *
     * @throws VerbsException {@code ESRCH} if there is no such process, {@code ENOENT} if it does not show any verbs objects,
     *         {@code EACCES} if it is another user's, {@code EBADMSG} if its file makes no sense,
     *         {@code EPROTONOSUPPORT} if it runs with another version of Verbena that shows its objects differently
     */
    public static RemoteProcess open(long pid) throws VerbsException {
        String verb = "look at process " + pid;
        if (pid == Sys.pid()) {
            return current();
        }
        try {
            int uid = (int) Files.getAttribute(Path.of("/proc", Long.toString(pid)), "unix:uid");
            CounterFolder folder = CounterFolder.of(uid);
            folder.check();
            VerbsException failure = null;
            for (Path file : folder.files()) {
                if (CounterFolder.pid(file) == pid && !CounterFolder.isLeftBehind(file)) {
                    try {
                        return new RemoteProcess(CounterFileReader.open(file, uid));
                    } catch (VerbsException e) {
                        failure = e;
                    }
                }
            }
            if (failure != null) {
                throw failure;
            }
            throw new VerbsException(verb, Errno.ENOENT, "it shows no verbs objects in " + folder.path()
                    + ": it has opened no device, or could not make its file (then it has logged a warning)");
        } catch (NoSuchFileException e) {
            if (!Files.exists(Path.of("/proc", Long.toString(pid)))) {
                throw new VerbsException(verb, Errno.ESRCH, "there is no such process");
            }
            throw new VerbsException(verb, Errno.ENOENT, "it shows no verbs objects: no process of its user does");
        } catch (AccessDeniedException e) {
            throw foreign(verb, pid);
        } catch (LinuxException e) {
            if (e.errno() == Errno.EACCES) {
                throw foreign(verb, pid);
            }
            if (e.errno() == Errno.ENOENT) {
                throw new VerbsException(verb, Errno.ENOENT, "it shows no verbs objects: no process of its user does");
            }
            throw new VerbsException(verb, e);
        } catch (IOException e) {
            throw e instanceof VerbsException v
                    ? v
                    : new VerbsException(verb, Errno.EPERM,
                            String.valueOf(e.getMessage()));
        }
    }

    private static VerbsException foreign(String verb, long pid) {
        String whose = "another user";
        try {
            whose = "user " + Files.getOwner(Path.of("/proc", Long.toString(pid))).getName();
        } catch (IOException e) {
            // it has ended
        }
        return new VerbsException(verb, Errno.EACCES, "it belongs to " + whose + ": look as that user, or as root");
    }

    /** This process, all of it: also what could not be put into a file. */
    public static RemoteProcess current() {
        return new RemoteProcess(new OwnCounters(CounterFile.own()));
    }

    /** Its number. */
    public long pid() {
        return source.pid();
    }

    /** Its command line as far as it is known; perhaps empty. */
    public String command() {
        return source.command();
    }

    /** When it opened its first device. */
    public Instant created() {
        return Instant.ofEpochSecond(0, source.created());
    }

    /** False once it has ended. */
    public boolean isAlive() {
        return source.isAlive();
    }

    /**
     * Its objects as they are now, in the order of their {@link RemoteObject#id()}.
     *
     * @param flags see {@link ReadCountersFlags}
     * @throws VerbsException {@code EINVAL} for an unknown flag or if this is closed, {@code ESRCH} if it has ended,
     *         {@code ETIMEDOUT} if exact values are wanted and it does not answer, as one that is stopped, or that is in
     *         another network namespace,
     *         {@code EBADMSG} if its file makes no sense
     */
    public List<RemoteObject> objects(int flags) throws VerbsException {
        String verb = "look at process " + pid();
        if ((flags & ~ReadCountersFlags.KNOWN) != 0) {
            throw new VerbsException(verb, Errno.EINVAL,
                    "unknown flags " + ReadCountersFlags.toString(flags & ~ReadCountersFlags.KNOWN));
        }
        requireAlive(verb);
        if ((flags & ReadCountersFlags.PREFER_CACHED) == 0) {
            refresh();
        }
        List<EntryView> all = entries();
        Map<Long, List<EntryView>> queuePairs = all.stream().filter(e -> e.type() == ObjectType.QP)
                .collect(Collectors.groupingBy(EntryView::context));
        return all.stream().sorted(Comparator.comparingLong(EntryView::id))
                .map(e -> new RemoteObject(this, e, e.type() == ObjectType.PORT
                        ? portSums(e, queuePairs.getOrDefault(e.context(), List.of()))
                        : e.cells()))
                .toList();
    }

    /** Throws {@code EINVAL} if this is closed, {@code ESRCH} if the process has ended. */
    void requireAlive(String verb) throws VerbsException {
        if (closed) {
            throw new VerbsException(verb, Errno.EINVAL, "nobody looks at process " + pid()
                    + " any more: it was closed");
        }
        if (!isAlive()) {
            throw new VerbsException(verb, Errno.ESRCH, "process " + pid() + " has ended");
        }
    }

    /** True if the object is still there. */
    boolean has(EntryView view) throws VerbsException {
        return source.entry(view) != null;
    }

    /**
     * All entries at a time when no queue pair was being closed: that one's counts go over to its port, and would be seen
     * twice or not at all. A process that closes nothing else than queue pairs is not waited for.
     */
    private List<EntryView> entries() throws VerbsException {
        long end = System.nanoTime() + PATIENCE_NANOS;
        while (true) {
            Map<Long, Long> before = portChanges();
            VarHandle.loadLoadFence();
            List<EntryView> all = source.entries();
            VarHandle.loadLoadFence();
            ports = all.stream().filter(e -> e.type() == ObjectType.PORT).toList();
            if (ports.size() > MAX_PORTS) {
                throw new VerbsException("look at process " + pid(), Errno.EBADMSG,
                        "its counter file has " + ports.size() + " ports");
            }
            boolean settled = before.values().stream().allMatch(c -> (c & 1) == 0) && before.equals(portChanges());
            if (settled || System.nanoTime() - end > 0) {
                return all;
            }
        }
    }

    /** Of the ports that are known: how often something was added to them. */
    private Map<Long, Long> portChanges() throws VerbsException {
        Map<Long, Long> changes = new HashMap<>();
        for (EntryView p : ports) {
            EntryView now = source.entry(p);
            if (now != null) {
                changes.put(p.id(), now.changes());
            }
        }
        return changes;
    }

    private static long[] portSums(EntryView port, List<EntryView> all) {
        long[] sums = port.cells().clone();
        for (EntryView e : all) {
            if (port.isPortOf(e)) {
                for (int i = 0; i < sums.length; i++) {
                    sums[i] += e.cells()[i];
                }
            }
        }
        return sums;
    }

    /** Creates counters for objects of this and other processes; they are used as those of {@link Context#createCounters()}. */
    public Counters createCounters() throws VerbsException {
        return new SampledCounters(null);
    }

    /** Has the process gather what its peers have counted. */
    void refresh() throws VerbsException {
        if (isAlive()) {
            source.refresh();
        }
    }

    /** The sum of some cells of an object; the last there was if the object or the process is no more. */
    long read(EntryView view, long mask) throws VerbsException {
        if (view.type() != ObjectType.PORT) {
            EntryView now = source.entry(view);
            return now == null ? 0 : EntryView.sum(now.cells(), mask);
        }
        if (source.entry(view) == null) {
            return 0;
        }
        List<EntryView> all = entries();
        return all.stream().filter(e -> e.id() == view.id() && e.sequence() == view.sequence()).findFirst()
                .map(p -> EntryView.sum(portSums(p, all), mask)).orElse(0L);
    }

    /** Ends looking; the process does not notice. Counters keep what they have read last. */
    @Override
    public void close() {
        closed = true;
        source.close();
    }

    @Override
    public String toString() {
        return "process " + pid();
    }
}
