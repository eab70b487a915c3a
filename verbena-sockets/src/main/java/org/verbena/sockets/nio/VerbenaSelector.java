// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;
import java.util.Collections;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import sun.nio.ch.DefaultSelectorProvider;
import sun.nio.ch.SelChImpl;

import org.verbena.sockets.stream.ReadyQueue;
import org.verbena.sockets.stream.Stream;

/**
 * A selector for all channels of the provider. A channel whose bytes are carried by rings reports its readiness through a
 * {@link ReadyQueue}; an inner selector of the JDK reports that of all other channels, and its wait is where the thread sleeps. The
 * cost of a selection depends on the number of keys that are ready, not on the number of idle keys.
 *
 * <p>Locks and sets are as {@link Selector} specifies. A selection returns 0 only when its time is over, when it was
 * woken or interrupted, or when what is ready was selected before and never removed.
 */
public final class VerbenaSelector extends AbstractSelector {
    private static final long UNLIMITED = -1;
    private static final long POLL_MILLIS = 1;

    private final KernelKeys kernel;
    private final ReadyQueue queue;
    private final ActiveKeys active;
    private final FoundKeys found = new FoundKeys();
    private final UpdateQueue updates = new UpdateQueue();
    private final KeyList dropped = new KeyList();
    private final SelectorSpin spin = new SelectorSpin();
    private final KernelWatch watch;

    private final Set<SelectionKey> keys = ConcurrentHashMap.newKeySet();
    private final Set<SelectionKey> publicKeys = Collections.unmodifiableSet(keys);
    private final SelectedKeys selected = new SelectedKeys();

    private final AtomicBoolean woken = new AtomicBoolean();
    /** Whether a thread sleeps in the inner selector, or is about to. */
    private volatile boolean asleep;

    private boolean selecting;
    /** Keys of which a ring carries a direction. */
    private int ringKeys;
    /** Keys that the kernel alone makes ready. */
    private int kernelKeys;
    /** Keys of which a ring carries a direction, but whose peer, or end of TCP, does not wake a thread at the bell. */
    private int deafKeys;

    /** @throws IOException if the system gives no descriptor for it */
    public VerbenaSelector(SelectorProvider provider) throws IOException {
        super(provider);
        kernel = new KernelKeys(DefaultSelectorProvider.get().openSelector()); // first: without it no queue is taken
        queue = new ReadyQueue();
        active = new ActiveKeys(queue);
        watch = new KernelWatch(kernel.inner(), this::wakeAtBell);
    }

    private void ensureOpen() {
        if (!isOpen()) {
            throw new ClosedSelectorException();
        }
    }

    @Override
    public Set<SelectionKey> keys() {
        ensureOpen();
        return publicKeys;
    }

    @Override
    public Set<SelectionKey> selectedKeys() {
        ensureOpen();
        return selected;
    }

    KernelKeys kernelKeys() {
        return kernel;
    }

    /** Polls of streams' keys so far. */
    synchronized long polls() {
        return active.polls();
    }

    // -- what other threads do

    @Override
    protected SelectionKey register(AbstractSelectableChannel channel, int ops, @Nullable Object attachment) {
        ensureOpen();
        SelectorKey key = new SelectorKey(this, channel);
        key.attach(attachment);
        key.interest(ops);
        SelectableChannel kernels = channel instanceof StreamCarried c
                ? c.inner()
                : channel instanceof StreamServerSocketChannel s ? s.inner() : channel;
        try {
            // refuses channels that are not of the JDK's classes; both locks of the channel may be taken again
            key.innerKey(kernels.register(kernel.inner(), 0, key));
        } catch (ClosedChannelException _) {
            key.cancel(); // as the closing thread is about to do
        }
        keys.add(key);
        updates.add(key); // which others may have seen, and cancelled, already
        if (channel instanceof StreamCarried c) {
            c.onConnected(key);
        }
        if (!isOpen()) {
            keys.remove(key);
            key.cancel();
            throw new ClosedSelectorException();
        }
        return key;
    }

    /** The interest of {@code key} changed: the next selection takes it into account. */
    void update(SelectorKey key) {
        updates.add(key);
    }

    /** The stream of {@code key} changed: the selection under way takes it into account. */
    void updateSoon(SelectorKey key) {
        updates.add(key);
        wakeSleeper();
    }

    @Override
    public Selector wakeup() {
        woken.set(true);
        wakeSleeper();
        return this;
    }

    private void wakeSleeper() {
        if (!asleep) {
            return;
        }
        if (queue.isAtBell()) {
            queue.wake();
        } else {
            kernel.wakeup();
        }
    }

    /** The kernel has something to report: only a thread that sleeps at the bell has to be told. */
    private void wakeAtBell() {
        if (asleep && queue.isAtBell()) {
            queue.wake();
        }
    }

    @Override
    protected void implCloseSelector() throws IOException {
        wakeup();
        synchronized (this) {
            try (queue) {
                try {
                    kernel.inner().close();
                } finally {
                    watch.close();
                }
                spin.close();
                synchronized (selected) {
                    dropped.truncate(0);
                    for (SelectionKey key : keys) {
                        dropped.add((SelectorKey) key);
                    }
                    forgetDropped();
                }
            }
        }
    }

    // -- selecting

    @Override
    public int select() throws IOException {
        return lockAndSelect(null, UNLIMITED);
    }

    @Override
    public int select(long timeout) throws IOException {
        return lockAndSelect(null, nanos(timeout));
    }

    @Override
    public int selectNow() throws IOException {
        return lockAndSelect(null, 0);
    }

    @Override
    public int select(Consumer<SelectionKey> action) throws IOException {
        return lockAndSelect(Objects.requireNonNull(action), UNLIMITED);
    }

    @Override
    public int select(Consumer<SelectionKey> action, long timeout) throws IOException {
        Objects.requireNonNull(action);
        return lockAndSelect(action, nanos(timeout));
    }

    @Override
    public int selectNow(Consumer<SelectionKey> action) throws IOException {
        return lockAndSelect(Objects.requireNonNull(action), 0);
    }

    private static long nanos(long timeout) {
        if (timeout < 0) {
            throw new IllegalArgumentException("a time-out of " + timeout
                    + " ms: 0 waits without limit, selectNow() not at all");
        }
        return timeout == 0 ? UNLIMITED : TimeUnit.MILLISECONDS.toNanos(timeout);
    }

    private int lockAndSelect(@Nullable Consumer<SelectionKey> action, long nanos) throws IOException {
        synchronized (this) {
            ensureOpen();
            if (selecting) {
                throw new IllegalStateException("select in progress");
            }
            selecting = true;
            try {
                synchronized (selected) {
                    return doSelect(action, nanos);
                }
            } finally {
                found.clear();
                selecting = false;
            }
        }
    }

    private int doSelect(@Nullable Consumer<SelectionKey> action, long nanos) throws IOException {
        dropCancelled();
        poll();
        if (nanos == 0 || found.isEmpty() && isEnded()) { // without a wait: what is ready must be found now
            if (kernelKeys > 0 || isKernelDue()) {
                kernel.poll(found, active);
            }
        } else if (!found.isEmpty() && isKernelDue()) {
            kernel.poll(found, active);
        }
        dropCancelled();
        found.sift();
        if (found.isEmpty() && nanos != 0) {
            await(nanos);
        }
        if (woken.get()) {
            woken.getAndSet(false);
        }
        return report(action);
    }

    /** Whether to ask the kernel although memory is polled. It has nothing to say where all that is wanted rings the bell. */
    private boolean isKernelDue() {
        if (isHeard()) {
            return kernel.isOwed();
        }
        return watch.isQuiet() && kernel.behind() == 0 ? kernel.isDueThoughQuiet() : kernel.isDue();
    }

    /** Whether all that is wanted comes by rings, and wakes a thread at the bell. */
    private boolean isHeard() {
        return ringKeys > 0 && kernelKeys == 0 && deafKeys == 0 && queue.isComplete();
    }

    /** A key has changed what it asks of the inner selector. */
    void kernelAsked() {
        kernel.asked();
    }

    /** Waits until something that is wanted is ready. */
    private void await(long nanos) throws IOException {
        long start = System.nanoTime();
        long waited = 0;
        while (found.isEmpty() && !isEnded() && (nanos == UNLIMITED || waited < nanos)) {
            if (ringKeys == 0 || waited > 0 || !spin(start, nanos)) {
                sleep(nanos == UNLIMITED ? UNLIMITED : nanos - (System.nanoTime() - start));
            }
            poll();
            dropCancelled();
            found.sift();
            waited = Math.max(1, System.nanoTime() - start);
        }
        if (!found.isEmpty()) { // what ends by wakeup() says nothing about the channels
            spin.waited(waited);
            watch.waited();
        }
    }

    private boolean isEnded() {
        return woken.get() || !isOpen() || Thread.currentThread().isInterrupted();
    }

    /** Polls memory for a while; answers whether there is no need to sleep. */
    private boolean spin(long start, long nanos) throws IOException {
        long budget = nanos == UNLIMITED ? spin.budget() : Math.min(nanos, spin.budget());
        long now = start;
        while (now - start < budget) {
            pollMemory();
            if (found.isEmpty()) {
                if (isEnded()) {
                    return true;
                }
                if (isKernelDue()) {
                    kernel.poll(found, active);
                }
            }
            if (!found.isEmpty()) {
                spin.polled(true, now - start);
                return true;
            }
            now = System.nanoTime();
            spin.share(now);
        }
        if (now != start) {
            spin.polled(false, now - start);
        }
        return false;
    }

    /** Polls memory some times, or until that finds something. */
    private void pollMemory() {
        for (int i = 0; i < SelectorSpin.POLLS; i++) {
            poll();
            if (!found.isEmpty()) {
                return;
            }
            Thread.onSpinWait();
        }
    }

    /** Sleeps at the bell or in the inner selector until something happens; may wake up without need. */
    private void sleep(long nanos) throws IOException {
        boolean mayUseBell = mayUseBell();
        boolean watched = mayUseBell && !isHeard();
        boolean mustPoll = active.armAll(found);
        if (!found.isEmpty() || nanos != UNLIMITED && nanos <= 0 || !queue.sleep(mayUseBell)) {
            return;
        }
        asleep = true;
        try {
            if (isEnded() || !updates.isEmpty()) {
                return;
            }
            if (!queue.isAtBell()) {
                kernel.await(found, active, millis(nanos, mustPoll));
                sleptInKernel();
            } else if (!watched) {
                sleepAtBell(mustPoll, nanos);
            } else if (watch.arm()) {
                sleepAtBell(mustPoll, nanos);
                sleptWatched();
            }
        } finally {
            asleep = false;
            queue.awake();
        }
    }

    /** Asks the kernel for what was left there first, since the thread may not wait for it. */
    private boolean mayUseBell() throws IOException {
        if (Thread.currentThread().isVirtual()) { // which would keep its carrier
            return false;
        }
        if (isHeard()) {
            if (kernel.isOwed()) {
                kernel.poll(found, active);
            }
            return true;
        }
        if (ringKeys == 0 || !queue.isComplete() || !watch.isWorthwhile()) {
            return false;
        }
        if (kernel.behind() > 0) {
            kernel.poll(found, active);
        }
        return kernel.behind() == 0; // else the kernel does not know yet what it is to report
    }

    private void sleptInKernel() {
        if (!isHeard()) {
            kernel.leave(); // of a doorbell that was asked for and has not come yet
            if (kernel.hasReported()) { // else it has ended by wakeup(), or the time is over
                watch.sleptInKernel(kernel.hasReportedDoorbellsOnly());
            }
        }
    }

    private void sleptWatched() throws IOException {
        if (watch.isQuiet()) {
            kernel.isQuiet();
            return;
        }
        kernel.poll(found, active);
        if (kernel.hasReported() && !kernel.hasReportedDoorbellsOnly()) { // else it was a late doorbell or wakeup()
            watch.disturbed();
        }
    }

    private void sleepAtBell(boolean mustPoll, long nanos) {
        begin(); // an interrupt wakes
        try {
            queue.await(mustPoll ? TimeUnit.MILLISECONDS.toNanos(POLL_MILLIS) : nanos);
        } finally {
            end();
        }
    }

    /** At least as long as asked for: a selection must not end before its time. */
    private static long millis(long nanos, boolean mustPoll) {
        if (mustPoll) {
            return POLL_MILLIS;
        }
        return nanos == UNLIMITED ? 0 : TimeUnit.NANOSECONDS.toMillis(nanos - 1) + 1;
    }

    /** Finds what is ready by memory alone: no system call. */
    private void poll() {
        queue.poll();
        for (SelectorKey key = updates.takeAll(); key != null;) {
            SelectorKey next = UpdateQueue.next(key);
            if (key.isValid()) {
                refresh(key);
            }
            key = next;
        }
        active.poll(found);
    }

    /** Finds what carries a channel's bytes now, and asks the kernel for the readiness that it alone can report. */
    private void refresh(SelectorKey key) {
        Stream s = key.stream;
        if (!key.listening && key.channel() instanceof StreamCarried c) {
            s = c.streamOrNull();
            key.stream = s;
            if (s != null && c.listening().compareAndSet(null, key)) {
                key.listening = true;
                s.listen(key);
            }
        }
        int ops = key.interest();
        if (s == null) {
            count(key, false, ops != 0, false);
            key.askKernel(ops);
            return;
        }
        ops &= SelectorKey.BYTES;
        int byRing = SelectorKey.byRing(s);
        count(key, byRing != 0, (ops & ~byRing) != 0, byRing != 0 && s.bell() == null);
        key.askKernel(s);
        if (ops != 0) {
            active.add(key);
        }
    }

    private void count(SelectorKey key, boolean byRing, boolean byKernel, boolean deaf) {
        ringKeys += (byRing ? 1 : 0) - (key.byRing ? 1 : 0);
        kernelKeys += (byKernel ? 1 : 0) - (key.byKernel ? 1 : 0);
        deafKeys += (deaf ? 1 : 0) - (key.deaf ? 1 : 0);
        if (byRing && !byKernel && !deaf && (key.byKernel || key.deaf || !key.byRing)) {
            kernel.leave();
        }
        key.byRing = byRing;
        key.byKernel = byKernel;
        key.deaf = deaf;
    }

    private int report(@Nullable Consumer<SelectionKey> action) {
        int updated = 0;
        for (int i = 0; i < found.size(); i++) {
            SelectorKey key = found.get(i);
            int ops = key.found;
            if (action != null) {
                key.ready(ops);
                updated++;
                action.accept(key);
                ensureOpen();
            } else if (selected.contains(key)) {
                int before = key.ready();
                key.ready(before | ops);
                updated += (ops & ~before) != 0 ? 1 : 0;
            } else {
                key.ready(ops);
                selected.insert(key);
                updated++;
            }
        }
        return updated;
    }

    // -- dropping keys

    private void dropCancelled() throws IOException {
        Set<SelectionKey> cancelled = cancelledKeys();
        synchronized (cancelled) {
            if (cancelled.isEmpty() && dropped.size() == 0) {
                return;
            }
            for (SelectionKey key : cancelled) {
                dropped.add((SelectorKey) key);
            }
            cancelled.clear();
        }
        for (int i = 0; i < dropped.size(); i++) {
            dropped.get(i).cancelInner();
        }
        // First of all the inner selector: once our keys are gone the channels may be registered again.
        kernel.poll(found, active);
        forgetDropped();
    }

    /** All of them, even if one fails: its descriptor would stay open. Of exceptions the first is thrown. */
    private void forgetDropped() throws IOException {
        IOException failure = null;
        for (int left = dropped.size(); left > 0; left = dropped.size()) {
            SelectorKey key = dropped.get(left - 1);
            dropped.truncate(left - 1);
            selected.remove(key);
            keys.remove(key);
            try {
                forget(key);
            } catch (IOException | UncheckedIOException e) {
                failure = failure != null
                        ? failure
                        : e instanceof UncheckedIOException u ? u.getCause() : (IOException) e;
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    /** Takes a key from its channel, and ends the channel if it only waited for that. */
    private void forget(SelectorKey key) throws IOException {
        count(key, false, false, false);
        SelectableChannel channel = key.channel();
        if (channel instanceof StreamCarried c) {
            c.forget(key);
            Stream s = key.stream;
            if (s != null && key.listening) {
                key.listening = false;
                s.listen(null);
                c.listening().set(null);
                c.onListenerRemoved();
            }
        }
        deregister(key);
        if (!channel.isOpen() && !channel.isRegistered() && channel instanceof SelChImpl ended) {
            ended.kill();
        }
    }
}
