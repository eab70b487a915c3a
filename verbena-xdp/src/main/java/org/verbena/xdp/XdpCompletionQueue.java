// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

import org.verbena.linux.Errno;
import org.verbena.telemetry.CounterEntry;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcFlags;
import org.verbena.verbs.spi.BellChannel;
import org.verbena.verbs.spi.PublishedObjects;

/**
 * A completion queue. It holds nothing but the batch that is being polled: completions stay in the rings of the queue
 * pairs, which have room for all of them, until a poll takes them out. So it cannot overrun.
 */
final class XdpCompletionQueue extends CompletionQueue implements BellChannel.Source {
    private static final int NOT = 0;
    private static final int ERRORS = 1;
    private static final int ANY = 2;
    private static final VarHandle ARMED;
    private static final VarHandle EVENT;

    static {
        try {
            MethodHandles.Lookup l = MethodHandles.lookup();
            ARMED = l.findVarHandle(XdpCompletionQueue.class, "armed", int.class);
            EVENT = l.findVarHandle(XdpCompletionQueue.class, "event", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final XdpContext context;
    private final int index;
    private final CounterEntry counters;
    private final int cqe;
    private final CompletionBatch batch = new CompletionBatch();
    /** Replaced when one comes or goes: polls read it without a lock. */
    private volatile Source[] sources = {};
    private int start;
    private volatile int armed = NOT;

    @SuppressWarnings("unused") // EVENT
    private volatile boolean event;

    XdpCompletionQueue(XdpContext context, CompletionQueueAttributes a, int index) throws VerbsException {
        super(context, a);
        this.context = context;
        this.index = index;
        cqe = a.cqe();
        counters = context.published().completionQueue(index, a);
        publish(counters);
        if (channel() instanceof XdpCompletionChannel c) {
            c.add(this);
        }
        opened();
    }

    long publishedId() {
        return counters.id();
    }

    synchronized void add(Source s) {
        Source[] more = Arrays.copyOf(sources, sources.length + 1);
        more[more.length - 1] = s;
        sources = more;
    }

    synchronized void remove(Source s) {
        sources = Arrays.stream(sources).filter(o -> o != s).toArray(Source[]::new);
    }

    // ---- polling

    @Override
    public int startPoll() {
        return isClosed() ? Errno.EINVAL : nextPoll();
    }

    @Override
    public int nextPoll() {
        if (batch.next()) {
            return 0;
        }
        batch.clear();
        Source[] all = sources;
        int n = all.length;
        start++;
        for (int i = 0; i < n && !batch.isFull(); i++) {
            Source s = all[Math.floorMod(start + i, n)];
            if (s.hasCompletions()) {
                s.drain(batch);
            }
        }
        if (batch.next()) {
            XdpCounted.add(counters, SamplePoint.CQ_COMPLETIONS, CompletionBatch.SIZE - batch.room());
            return 0;
        }
        XdpCounted.add(counters, SamplePoint.CQ_EMPTY_POLLS, 1);
        return Errno.ENOENT;
    }

    @Override
    public void endPoll() {
        // completions are consumed as the cursor reaches them
    }

    @Override
    public long wrId() {
        return batch.wrId();
    }

    @Override
    public int status() {
        return batch.status();
    }

    @Override
    public int opcode() {
        return batch.opcode();
    }

    @Override
    public int vendorError() {
        return 0; // the status has all information
    }

    @Override
    public long byteLength() {
        return batch.bytes();
    }

    @Override
    public int immediate() {
        return 0; // a frame has none
    }

    @Override
    public int queuePairNumber() {
        return batch.queuePair();
    }

    /** See {@link WcFlags#IP_CSUM_OK}, {@link WcFlags#CSUM_PARTIAL}, {@link WcFlags#CONTINUES}. */
    @Override
    public int flags() {
        return batch.flags();
    }

    @Override
    public int cqe() {
        return cqe;
    }

    // ---- events

    @Override
    public int requestNotify(boolean solicitedOnly) {
        if (isClosed() || channel() == null) {
            return Errno.EINVAL;
        }
        event = false;
        if (!solicitedOnly) {
            armed = ANY;
            for (Source s : sources) {
                s.watch();
            }
            context.notifier().watch(this);
        } else {
            ARMED.compareAndSet(this, NOT, ERRORS); // an arming for all completions is never narrowed
        }
        XdpCounted.add(counters, SamplePoint.CQ_NOTIFY_REQUESTS, 1);
        return 0;
    }

    /** Whether somebody waits for the next completion. */
    boolean isArmed() {
        return armed == ANY;
    }

    /** Something was posted whose completion nobody will announce: looks for it if somebody waits. */
    void sent() {
        if (armed == ANY) {
            context.notifier().watch(this);
        }
    }

    /** Something may have come: makes an event if the queue is armed for it. From any thread. */
    void completed(boolean error) {
        int a = armed;
        if ((a == ANY || error && a == ERRORS) && ARMED.compareAndSet(this, a, NOT)) {
            event = true;
            if (channel() instanceof XdpCompletionChannel c) {
                c.signal();
            }
        }
    }

    /** Whether it waits for what the engine has to look for itself; makes an event if that is there. */
    boolean isWaiting() {
        if (armed != ANY || isClosed()) {
            return false;
        }
        boolean waiting = false;
        for (Source s : sources) {
            if (s.isPending()) {
                if (s.hasCompletions()) {
                    completed(false);
                    return false;
                }
                waiting = true;
            }
        }
        return waiting;
    }

    @Override
    public CompletionQueue queue() {
        return this;
    }

    @Override
    public boolean event(boolean take) {
        if (!take) {
            return event;
        }
        boolean taken = EVENT.compareAndSet(this, true, false);
        if (taken && PublishedObjects.COUNTING) {
            counters.add(PublishedObjects.cell(SamplePoint.CQ_EVENTS), 1);
        }
        return taken;
    }

    @Override
    public String describe() {
        return "CQ " + index + " of " + context.describe();
    }

    @Override
    protected void implClose() {
        if (channel() instanceof XdpCompletionChannel c) {
            c.remove(this);
        }
        context.notifier().forget(this);
        context.releaseCompletionQueue(index);
    }
}
