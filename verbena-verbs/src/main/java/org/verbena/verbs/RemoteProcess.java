// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import org.verbena.linux.Errno;
import org.verbena.telemetry.CounterFileException;
import org.verbena.telemetry.EntryView;
import org.verbena.telemetry.ProcessCounters;

/**
 * A process that uses Verbena, seen from another one: its objects and what they have counted. What may be seen is
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
 * <p>Looking costs the process nothing, except that it gathers what its peers have counted when exact values are asked
 * for. It may end at any time: {@link #isAlive()} is false then, objects are gone, and counters keep their last values.
 * Safe for use by several threads.
 */
public final class RemoteProcess implements AutoCloseable {
    private final ProcessCounters source;
    private volatile boolean closed;

    private RemoteProcess(ProcessCounters source) {
        this.source = source;
    }

    /**
     * The processes that use Verbena now and that may be seen, by number. Files that processes left behind when they
     * were killed are removed. Unreadable files are left out; {@link #list(Consumer)} reports them.
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
     * @param problems receives each file that is invalid, or may not be read
     */
    public static List<RemoteProcess> list(Consumer<? super VerbsException> problems) throws VerbsException {
        try {
            List<RemoteProcess> found = new ArrayList<>();
            ProcessCounters.list(e -> problems.accept(VerbsException.of(e))).forEach(p -> found.add(new RemoteProcess(
                    p)));
            return found;
        } catch (CounterFileException e) {
            throw VerbsException.of(e);
        }
    }

    /**
     * A process by its number.
     *
     * @throws VerbsException {@code ESRCH} if there is no such process, {@code ENOENT} if it does not show any
     *        objects, {@code EACCES} if it is another user's, {@code EBADMSG} if its file is invalid, {@code
     *        EPROTONOSUPPORT} if it runs with another version of Verbena that shows its objects differently
     */
    public static RemoteProcess open(long pid) throws VerbsException {
        try {
            return new RemoteProcess(ProcessCounters.open(pid));
        } catch (CounterFileException e) {
            throw VerbsException.of(e);
        }
    }

    /** This process, all of it: also what could not be put into a file. */
    public static RemoteProcess current() {
        return new RemoteProcess(ProcessCounters.own());
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
     *         {@code ETIMEDOUT} if exact values are wanted and it does not answer, as one that is stopped, or that is
     *        in another network namespace, {@code EBADMSG} if its file is invalid
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
        try {
            return source.entries().stream().map(e -> new RemoteObject(this, e)).toList();
        } catch (CounterFileException e) {
            throw VerbsException.of(e);
        }
    }

    /** Throws {@code EINVAL} if this is closed, {@code ESRCH} if the process has ended. */
    void requireAlive(String verb) throws VerbsException {
        if (closed) {
            throw new VerbsException(verb, Errno.EINVAL, "the view of process " + pid() + " is closed");
        }
        if (!isAlive()) {
            throw new VerbsException(verb, Errno.ESRCH, "process " + pid() + " has ended");
        }
    }

    /** True if the object is still there. */
    boolean has(EntryView view) throws VerbsException {
        try {
            return source.has(view);
        } catch (CounterFileException e) {
            throw VerbsException.of(e);
        }
    }

    /**
     * Creates counters for objects of this and other processes; they are used as those of {@link
     * Context#createCounters()}.
     */
    public Counters createCounters() throws VerbsException {
        return new SampledCounters(null);
    }

    /** Has the process gather what its peers have counted. */
    void refresh() throws VerbsException {
        try {
            source.refresh();
        } catch (CounterFileException e) {
            throw VerbsException.of(e);
        }
    }

    /** The sum of some cells of an object; 0 if it is no more. */
    long read(EntryView view, long mask) throws VerbsException {
        try {
            return source.read(view, mask);
        } catch (CounterFileException e) {
            throw VerbsException.of(e);
        }
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
