// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.ref.Cleaner;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.telemetry.CounterEntry;

/**
 * What all verbs objects share: a name for messages, an owner, and the rule of destruction.
 *
 * <p>{@link #close()} refuses with {@code EBUSY} while another object uses this one, as the C API does, and does
 * nothing when called again. An object that becomes unreachable without having been closed is reported as a warning by
 * the {@link System.Logger} {@code org.verbena.verbs}. All methods may be called from any thread.
 */
public abstract non-sealed class VerbsObject implements AutoCloseable, CounterTarget {
    private static final Cleaner CLEANER = Cleaner.create();
    private static final int CLOSED = Integer.MIN_VALUE;
    private static final int SHOWN_USERS = 3;

    private final AtomicInteger users = new AtomicInteger();
    private volatile List<VerbsObject> used;
    private final DropReport report;
    private volatile @Nullable Runnable onClose;
    /** Used under the lock of the context's events. */
    private boolean eventless;
    private volatile @Nullable CounterEntry entry;
    /** Counters that this object is attached to, or was created with. */
    private final Set<SampledCounters> counters = ConcurrentHashMap.newKeySet();
    private volatile @Nullable Counters bound;

    /**
     * Registers the new object as a user of others, which from now on refuse to be closed.
     *
     * @param used the objects this one stands on, for instance a queue pair's protection domain and completion queues
     * @throws VerbsException {@code EINVAL} if one of them is closed
     */
    protected VerbsObject(List<? extends VerbsObject> used) throws VerbsException {
        this.used = List.copyOf(used);
        report = new DropReport(this.used);
        for (int i = 0; i < this.used.size(); i++) {
            if (!this.used.get(i).acquire()) {
                for (int j = 0; j < i; j++) {
                    this.used.get(j).release();
                }
                throw new VerbsException("create on " + this.used.get(i).describe(), Errno.EINVAL,
                        this.used.get(i).describe() + " is closed");
            }
        }
    }

    /** What the object is called in messages, for instance {@code "QP 0x11 of shm0"}. */
    @Override
    public abstract String describe();

    /** Releases the provider's part; called once, when nothing uses the object any more. */
    protected abstract void implClose() throws VerbsException;

    /** To be called last in a provider's constructor: from here on a drop without {@code close()} is reported. */
    protected final void opened() {
        report.name.set(describe());
        CLEANER.register(this, report);
    }

    /**
     * For providers: publishes the object to readers of this process's counters, and lets it be counted; once, before
     * {@link #opened()}.
     *
     * @param e its entry, which is given back when the object is closed
     */
    protected final void publish(CounterEntry e) {
        entry = e;
    }

    /** What is published of the object; null if the provider does not. */
    protected final @Nullable CounterEntry entry() {
        return entry;
    }

    final void countedBy(SampledCounters c) {
        counters.add(c);
    }

    final void notCountedBy(SampledCounters c) {
        counters.remove(c);
    }

    final void boundTo(Counters c) {
        bound = c;
    }

    /** Ends counting: counters of this object keep their last values. */
    private void endCounting() {
        for (SampledCounters c : counters) {
            c.settle(this);
        }
        Counters b = bound;
        if (b != null) {
            b.unbind();
        }
        CounterEntry e = entry;
        if (e != null) {
            e.close();
        }
    }

    /** True once {@link #close()} has succeeded. */
    public final boolean isClosed() {
        return users.get() < 0;
    }

    /**
     * Destroys the object. Does nothing if it is closed already.
     *
     * @throws VerbsException {@code EBUSY} while another object uses this one
     */
    @Override
    public void close() throws VerbsException {
        int n;
        do {
            n = users.get();
            if (n < 0) {
                return;
            }
            if (n > 0) {
                throw new VerbsException("close " + describe(), Errno.EBUSY,
                        n + (n == 1 ? " object still uses" : " objects still use")
                                + " it" + namesOfUsers() + ": close what was made from it first");
            }
        } while (!users.compareAndSet(0, CLOSED)); // another thread entered and perhaps left
        try {
            implClose();
        } catch (VerbsException e) {
            users.set(0);
            throw e;
        }
        report.settle();
        endCounting();
        for (VerbsObject o : used) {
            o.release();
        }
        onClosed();
    }

    /**
     * Makes the object stand on another one than before, which has to be open; the old one may be closed from then on.
     */
    final void standOn(VerbsObject fresh, VerbsObject instead) throws VerbsException {
        if (!fresh.acquire()) {
            throw new VerbsException("move " + describe(), Errno.EINVAL, fresh.describe() + " is closed");
        }
        used = used.stream().map(o -> o == instead ? fresh : o).toList();
        report.standOn(used);
        instead.release();
    }

    /** Runs {@code action} after the object was closed; the context uses it to forget the object. */
    final void onClose(Runnable action) {
        onClose = action;
    }

    /** The object was closed and its events are gone: none that was on its way comes any more. */
    final void noMoreEvents() {
        eventless = true;
    }

    final boolean mayHaveEvents() {
        return !eventless;
    }

    /** Where the object stands when a context closes all its children: lower numbers go first. */
    int closeOrder() {
        return 0;
    }

    private void onClosed() {
        Runnable action = onClose;
        if (action != null) {
            action.run();
        }
    }

    /** Some of those that use the object, after a space; empty if they are not known. */
    private String namesOfUsers() {
        Context c = contextOf(this);
        List<String> names = c == null
                ? List.of()
                : c.children().stream().filter(o -> o.used.contains(this)).map(VerbsObject::describe).sorted().toList();
        return names.isEmpty()
                ? ""
                : names.stream().limit(SHOWN_USERS).collect(Collectors.joining(", ", " (",
                        names.size() > SHOWN_USERS ? ", …)" : ")"));
    }

    private static @Nullable Context contextOf(VerbsObject o) {
        if (o instanceof Context c) {
            return c;
        }
        for (VerbsObject below : o.used) {
            Context c = contextOf(below);
            if (c != null) {
                return c;
            }
        }
        return null;
    }

    /** Throws {@code EINVAL} if the object is closed. */
    protected final void checkOpen(String verb) throws VerbsException {
        if (isClosed()) {
            throw new VerbsException(verb, Errno.EINVAL, describe() + " is closed");
        }
    }

    private boolean acquire() {
        int n;
        do {
            n = users.get();
            if (n < 0) {
                return false;
            }
        } while (!users.compareAndSet(n, n + 1));
        return true;
    }

    private void release() {
        users.decrementAndGet();
    }

    /** Gives up what the constructor took, for a subclass whose own construction failed. */
    protected final void abandon() {
        if (users.compareAndSet(0, CLOSED)) {
            report.settle();
            endCounting();
            for (VerbsObject o : used) {
                o.release();
            }
            onClosed();
        }
    }

    @Override
    public String toString() {
        return describe() + (isClosed() ? " (closed)" : "");
    }

    /** The part that outlives the object, for the context that has to close what was made from it. */
    final Runnable dropReport() {
        return report;
    }

    /** Kept apart from the object, which would otherwise never become unreachable. */
    private static final class DropReport implements Runnable {
        private static final Logger LOG = System.getLogger("org.verbena.verbs");
        /** Emptied when the object is closed, for the cleaner holds the report until the object is collected. */
        private volatile List<VerbsObject> used;
        private final AtomicReference<String> name = new AtomicReference<>("");

        DropReport(List<VerbsObject> used) {
            this.used = used;
        }

        void standOn(List<VerbsObject> others) {
            used = others;
        }

        /** The object was closed: there is nothing to report. */
        void settle() {
            name.set("");
            used = List.of();
        }

        /** Run by the cleaner and by a closing context: when it returns to the second caller all is released, too. */
        @Override
        public void run() {
            String n;
            synchronized (this) {
                n = name.getAndSet("");
                if (!n.isEmpty()) {
                    used.forEach(VerbsObject::release);
                    used = List.of();
                }
            }
            if (!n.isEmpty()) {
                LOG.log(Level.WARNING,
                        "{0} was dropped without close(): what it holds stays until its context is closed",
                        n);
            }
        }
    }
}
