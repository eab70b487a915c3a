// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.nio;

import java.io.IOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.function.Consumer;

import org.verbena.sockets.stream.Stream;

/**
 * The keys at the inner selector, one of the JDK's: the readiness that the kernel reports of channels that stay its own, and of
 * the TCP connections that streams keep.
 */
final class KernelKeys {
    /** How long the kernel may stay unpolled while there is always something else ready. */
    private static final long POLL_INTERVAL_NANOS = 10_000;

    /** The same while a {@link KernelWatch} says that the kernel has nothing to report. */
    private static final long QUIET_INTERVAL_NANOS = 1_000_000;
    /** For how long that is believed while the thread sleeps now and then: what watches may wait for a processor. */
    private static final long BELIEVED_NANOS = 100_000_000;

    private static final int MAX_ASKED = 1024;

    private final Selector inner;
    private final KeyList ready = new KeyList();
    private final Consumer<SelectionKey> collect = this::collect;
    private long polledAt = System.nanoTime();
    /** When there was nothing to report, by a poll or by what a {@link KernelWatch} knows. */
    private long quietAt = polledAt;
    /** Changes of interest that the inner selector has yet to take, which it keeps in a list. */
    private int asked;
    /** There may be something at a socket that nobody has to wait for any more. */
    private boolean left;
    /** In the last poll: keys reported, and those of them for more than a doorbell. */
    private int reported;
    private int reportedOwn;

    KernelKeys(Selector inner) {
        this.inner = inner;
    }

    Selector inner() {
        return inner;
    }

    /** Whether it is time to poll the kernel again although no thread waits. */
    boolean isDue() {
        return System.nanoTime() - polledAt >= POLL_INTERVAL_NANOS;
    }

    /** As {@link #isDue}, while a {@link KernelWatch} says that there is nothing. */
    boolean isDueThoughQuiet() {
        long now = System.nanoTime();
        return now - quietAt >= QUIET_INTERVAL_NANOS || now - polledAt >= BELIEVED_NANOS;
    }

    /** There is nothing to report now, as far as a {@link KernelWatch} knows. */
    void isQuiet() {
        quietAt = System.nanoTime();
    }

    /** Whether the last poll has found something. */
    boolean hasReported() {
        return reported > 0;
    }

    /** Whether the last poll has found nothing but doorbells. */
    boolean hasReportedDoorbellsOnly() {
        return reportedOwn == 0;
    }

    /** The interest of an inner key was changed. */
    void asked() {
        asked++;
    }

    /** How many it has yet to take. */
    int behind() {
        return asked;
    }

    /** A key has become one that the kernel need not be asked for: its socket may have a doorbell. */
    void leave() {
        left = true;
    }

    /** Whether to poll the kernel even if nothing is wanted of it. */
    boolean isOwed() {
        return left || asked > MAX_ASKED;
    }

    /** Finds what is ready now; drops inner keys that were cancelled. */
    void poll(FoundKeys found, ActiveKeys active) throws IOException {
        inner.selectNow(collect);
        processReady(found, active);
    }

    /**
     * Waits for the kernel.
     *
     * @param millis limit; 0 for none
     */
    void await(FoundKeys found, ActiveKeys active, long millis) throws IOException {
        inner.select(collect, millis);
        processReady(found, active);
    }

    void wakeup() {
        inner.wakeup();
    }

    /** Only records what is ready: no code of others may run inside the inner selector. */
    private void collect(SelectionKey innerKey) {
        if (innerKey.attachment() instanceof SelectorKey key) {
            try {
                int ops = innerKey.readyOps();
                if (key.kernelReady == 0) {
                    ready.add(key);
                }
                key.kernelReady |= ops;
            } catch (CancelledKeyException _) {
                // cancelled by another thread a moment ago
            }
        }
    }

    private void processReady(FoundKeys found, ActiveKeys active) {
        polledAt = System.nanoTime();
        quietAt = polledAt;
        asked = 0;
        left = false;
        reported = ready.size();
        reportedOwn = 0;
        for (int i = 0; i < ready.size(); i++) {
            SelectorKey key = ready.get(i);
            int ops = key.kernelReady;
            key.kernelReady = 0;
            reportedOwn += key.byRing && !key.byKernel && !key.deaf ? 0 : 1;
            Stream s = key.stream;
            if (s != null && key.isValid()) {
                ops = s.kernelReady(ops, key.interest() & SelectorKey.BYTES);
                key.askKernel(s); // an ended stream stays readable
                // bytes taken off TCP in order to find the switch to the ring are known to the stream only
                active.add(key);
            }
            if ((ops & key.interest()) != 0) {
                found.add(key, ops & key.interest());
            }
        }
        ready.truncate(0);
    }
}
