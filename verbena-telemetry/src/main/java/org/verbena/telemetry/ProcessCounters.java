// SPDX-License-Identifier: Apache-2.0
package org.verbena.telemetry;

import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
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

/**
 * What a process counts, read from its counter file; of this process also what could not be put into a file. The process may
 * end at any time: {@link #isAlive()} tells. Safe for use by several threads.
 */
public final class ProcessCounters implements AutoCloseable {
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** More entries in which others add up than any process has. */
    private static final int MAX_TOTALS = 4096;

    private final CounterSource source;
    private volatile List<EntryView> totals = List.of();

    private ProcessCounters(CounterSource source) {
        this.source = source;
    }

    /**
     * The processes that have a counter file now that may be read, by number. Files that processes left behind when they were
     * killed are removed.
     *
     * @param problems is told of each file that is not what it should be, or may not be read
     * @return open ones, to be closed by the caller
     * @throws CounterFileException if the folder cannot be read at all
     */
    public static List<ProcessCounters> list(Consumer<? super CounterFileException> problems)
            throws CounterFileException {
        List<ProcessCounters> found = new ArrayList<>();
        try {
            for (CounterFolder folder : CounterFolder.all()) {
                for (Path file : files(folder, problems)) {
                    try {
                        found.add(new ProcessCounters(CounterFileReader.open(file, folder.uid())));
                    } catch (CounterFileException e) {
                        if (Files.exists(file)) {
                            problems.accept(e);
                        }
                    }
                }
            }
        } catch (IOException e) {
            found.forEach(ProcessCounters::close);
            throw new CounterFileException("list processes", Errno.EIO, String.valueOf(e.getMessage()));
        }
        found.sort(Comparator.comparingLong(ProcessCounters::pid));
        return found;
    }

    private static List<Path> files(CounterFolder folder, Consumer<? super CounterFileException> problems) {
        String operation = "list the processes in " + folder.path();
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
                problems.accept(new CounterFileException(operation, e));
            }
        } catch (IOException e) {
            problems.accept(new CounterFileException(operation, Errno.EPERM, String.valueOf(e.getMessage())));
        }
        return List.of();
    }

    /**
     * A process by its number.
     *
     * @throws CounterFileException {@code ESRCH} if there is no such process, {@code ENOENT} if it does not show any objects,
     *         {@code EACCES} if it is another user's, {@code EBADMSG} if its file makes no sense,
     *         {@code EPROTONOSUPPORT} if it runs with another version of Verbena that shows its objects differently
     */
    public static ProcessCounters open(long pid) throws CounterFileException {
        String operation = "look at process " + pid;
        if (pid == Sys.pid()) {
            return own();
        }
        try {
            int uid = (int) Files.getAttribute(Path.of("/proc", Long.toString(pid)), "unix:uid");
            CounterFolder folder = CounterFolder.of(uid);
            folder.check();
            CounterFileException failure = null;
            for (Path file : folder.files()) {
                if (CounterFolder.pid(file) == pid && !CounterFolder.isLeftBehind(file)) {
                    try {
                        return new ProcessCounters(CounterFileReader.open(file, uid));
                    } catch (CounterFileException e) {
                        failure = e;
                    }
                }
            }
            if (failure != null) {
                throw failure;
            }
            throw new CounterFileException(operation, Errno.ENOENT, "it shows no objects in " + folder.path()
                    + ": it has made none, or could not make its file (then it has logged a warning)");
        } catch (NoSuchFileException e) {
            if (!Files.exists(Path.of("/proc", Long.toString(pid)))) {
                throw new CounterFileException(operation, Errno.ESRCH, "there is no such process");
            }
            throw new CounterFileException(operation, Errno.ENOENT,
                    "it shows no objects: no process of its user does");
        } catch (AccessDeniedException e) {
            throw foreign(operation, pid);
        } catch (LinuxException e) {
            if (e.errno() == Errno.EACCES) {
                throw foreign(operation, pid);
            }
            if (e.errno() == Errno.ENOENT) {
                throw new CounterFileException(operation, Errno.ENOENT,
                        "it shows no objects: no process of its user does");
            }
            throw new CounterFileException(operation, e);
        } catch (IOException e) {
            throw e instanceof CounterFileException c
                    ? c
                    : new CounterFileException(operation, Errno.EPERM, String.valueOf(e.getMessage()));
        }
    }

    private static CounterFileException foreign(String operation, long pid) {
        String whose = "another user";
        try {
            whose = "user " + Files.getOwner(Path.of("/proc", Long.toString(pid))).getName();
        } catch (IOException e) {
            // it has ended
        }
        return new CounterFileException(operation, Errno.EACCES, "it belongs to " + whose
                + ": look as that user, or as root");
    }

    /** This process, all of it: also what could not be put into a file. */
    public static ProcessCounters own() {
        return new ProcessCounters(new OwnCounters(CounterFile.own()));
    }

    /** Its number. */
    public long pid() {
        return source.pid();
    }

    /** Its command line as far as it is known; perhaps empty. */
    public String command() {
        return source.command();
    }

    /** When its file was made, ns since 1970. */
    public long created() {
        return source.created();
    }

    /** False once it has ended. */
    public boolean isAlive() {
        return source.isAlive();
    }

    /**
     * Its entries as they are now, in the order of their {@link EntryView#id()}; those of which others are
     * {@linkplain ObjectKind#partType parts} with the sums.
     *
     * @throws CounterFileException {@code EBADMSG} if its file makes no sense
     */
    public List<EntryView> entries() throws CounterFileException {
        List<EntryView> all = read();
        List<ObjectKind> wholes = totals.stream().map(EntryView::kind).distinct().toList();
        Map<Long, List<EntryView>> parts = all.stream().filter(e -> wholes.stream().anyMatch(k -> k.isPart(e.type())))
                .collect(Collectors.groupingBy(EntryView::context));
        return all.stream().sorted(Comparator.comparingLong(EntryView::id))
                .map(e -> e.hasParts() ? e.withSums(parts.getOrDefault(e.context(), List.of())) : e).toList();
    }

    /**
     * All entries at a time when none was being closed that is a part of another: its counts go over to that one, and would be
     * seen twice or not at all. A process that does nothing but close parts is not waited for.
     */
    private List<EntryView> read() throws CounterFileException {
        long end = System.nanoTime() + PATIENCE_NANOS;
        while (true) {
            Map<Long, Long> before = changes();
            VarHandle.loadLoadFence();
            List<EntryView> all = source.entries();
            VarHandle.loadLoadFence();
            totals = all.stream().filter(EntryView::hasParts).toList();
            if (totals.size() > MAX_TOTALS) {
                throw new CounterFileException("look at process " + pid(), Errno.EBADMSG,
                        "its counter file has " + totals.size() + " entries in which others add up");
            }
            boolean settled = before.values().stream().allMatch(c -> (c & 1) == 0) && before.equals(changes());
            if (settled || System.nanoTime() - end > 0) {
                return all;
            }
        }
    }

    /** Of the entries with parts that are known: how often something was added to them. */
    private Map<Long, Long> changes() throws CounterFileException {
        Map<Long, Long> changes = new HashMap<>();
        for (EntryView t : totals) {
            EntryView now = source.entry(t);
            if (now != null) {
                changes.put(t.id(), now.changes());
            }
        }
        return changes;
    }

    /** True if the object is still there. */
    public boolean has(EntryView earlier) throws CounterFileException {
        return source.entry(earlier) != null;
    }

    /** The sum of some cells of an object, a bit each; 0 if it is no more. */
    public long read(EntryView earlier, long cells) throws CounterFileException {
        EntryView now = source.entry(earlier);
        if (now == null) {
            return 0;
        }
        if (!earlier.hasParts()) {
            return EntryView.sum(now.cells(), cells);
        }
        List<EntryView> all = read();
        List<EntryView> ofContext = all.stream().filter(e -> e.context() == earlier.context()).toList();
        return ofContext.stream().filter(e -> e.isSame(earlier)).findFirst()
                .map(e -> EntryView.sum(e.withSums(ofContext).cells(), cells)).orElse(0L);
    }

    /** Has the process gather what its peers have counted. */
    public void refresh() throws CounterFileException {
        if (isAlive()) {
            source.refresh();
        }
    }

    /** Ends looking; the process does not notice. */
    @Override
    public void close() {
        source.close();
    }
}
