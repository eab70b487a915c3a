// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Epoll;
import org.verbena.linux.Errno;
import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Xsk;
import org.verbena.telemetry.CounterEntry;
import org.verbena.verbs.AsyncEvent;
import org.verbena.verbs.AsyncEventType;
import org.verbena.verbs.ObjectType;
import org.verbena.verbs.ReceiveQueue;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WorkQueue;
import org.verbena.verbs.WorkQueueAttributes;
import org.verbena.verbs.WorkQueueFlags;
import org.verbena.verbs.WorkQueueInitAttributes;
import org.verbena.verbs.WorkQueueState;

/** A work queue: receives of its own, and sockets as long as {@link Spreading} gives it some. */
final class XdpWorkQueue extends WorkQueue implements Receiving {
    /** What every work queue does: packets wait until a receive is posted. */
    private static final int ALWAYS = WorkQueueFlags.DELAY_DROP;

    private final XdpContext context;
    private final XdpProtectionDomain pd;
    private final XdpCompletionQueue cq;
    private final int index;
    private final int number;
    private final CounterEntry counters;
    private final ReceiveSide side;
    private final ReceiveQueue receiveQueue;
    private volatile int state = WorkQueueState.RESET;
    private final Object watching = new Object();
    /** Changed under the lock of {@link Spreading} and that of {@link #watching}. */
    private List<Xsk> sockets = List.of();
    /** Those that the engine looks at; under the lock of {@link #watching}. */
    private final Set<Xsk> watched = new HashSet<>();

    XdpWorkQueue(XdpContext context, WorkQueueInitAttributes init, int index, int number) throws VerbsException {
        super(init);
        this.context = context;
        this.index = index;
        this.number = number;
        pd = (XdpProtectionDomain) init.protectionDomain().underlying();
        cq = (XdpCompletionQueue) init.completionQueue();
        counters = context.published().workQueue(number, init, cq.publishedId(), XdpCounted.of(ObjectType.WQ));
        side = new ReceiveSide(this, cq, counters, number, init.maxWr(), context.rawDevice().isVirtual(), true);
        receiveQueue = new XdpReceiveQueue(this, side, init.maxWr());
        publish(counters);
        cq.add(side);
        opened();
    }

    static void check(String verb, WorkQueueInitAttributes a) throws VerbsException {
        if (a.maxSge() > 1) {
            throw new VerbsException(verb, Errno.EINVAL, "maxSge is " + a.maxSge() + ": a receive has one buffer, of "
                    + XdpLimits.CHUNK + " bytes");
        }
        if ((a.flags() & ~ALWAYS) != 0) {
            throw new VerbsException(verb, Errno.EOPNOTSUPP, "work queues have no flag but DELAY_DROP, not "
                    + WorkQueueFlags.toString(a.flags() & ~ALWAYS));
        }
    }

    ReceiveSide side() {
        return side;
    }

    @Override
    public int number() {
        return number;
    }

    @Override
    public int state() {
        return state;
    }

    /** Under the lock of {@link Spreading}. */
    void set(int to) {
        boolean failed = to == WorkQueueState.ERR && state != to;
        state = to;
        if (!isClosed()) { // or the entry may be another object's
            counters.setState(to);
        }
        if (failed) {
            cq.completed(true);
        }
    }

    @Override
    public ReceiveQueue receiveQueue() {
        return receiveQueue;
    }

    @Override
    protected void implModify(WorkQueueAttributes a) throws VerbsException {
        String verb = "modify " + describe();
        if (a.has(WorkQueueAttributes.FLAGS) && (a.flagsMask() & ~(a.flags() & ALWAYS)) != 0) {
            throw new VerbsException(verb, Errno.EOPNOTSUPP,
                    "work queues have the flag DELAY_DROP always, and no other");
        }
        if (a.has(WorkQueueAttributes.STATE)) {
            context.spreading().move(verb, this, a.state());
        }
    }

    // ---- sockets, under the lock of Spreading

    /** Receives by these sockets from now on. */
    void attach(SpreadSockets from, List<Xsk> opened) {
        synchronized (watching) {
            sockets = opened;
        }
        side.start(new WorkQueueReceiver(side, from, opened, initAttributes().maxWr()), null);
        if (cq.isArmed()) {
            side.watch();
        }
    }

    /** The descriptors of its sockets, one for each queue of the interface; none if it does not receive. */
    List<Fd> sockets() {
        return sockets.stream().map(Xsk::fd).toList();
    }

    /** Closes them; the side uses them no more. */
    void closeSockets() {
        List<Xsk> old = sockets;
        synchronized (watching) {
            sockets = List.of();
            unwatch();
        }
        old.forEach(Xsk::close);
    }

    // ---- for the side

    @Override
    public @Nullable XdpMemoryRegion region(int key) {
        return context.regions().find(key, pd);
    }

    @Override
    public boolean refusesReceives() {
        return state == WorkQueueState.RESET || isClosed();
    }

    @Override
    public boolean isFlushed() {
        return state == WorkQueueState.ERR;
    }

    @Override
    public void watchReceives() {
        synchronized (watching) {
            for (Xsk s : sockets) {
                try {
                    if (watched.contains(s)) {
                        context.engine().rewatch(s.fd(), Epoll.IN | Epoll.ONESHOT);
                    } else {
                        context.engine().watch(s.fd(), Epoll.IN | Epoll.ONESHOT, events -> arrived());
                        watched.add(s);
                    }
                } catch (LinuxException | IllegalStateException e) {
                    XdpLog.log(System.Logger.Level.WARNING, "cannot wait for packets of " + describe(), e);
                }
            }
        }
    }

    /** On the engine's thread; as of a queue pair, the kernel looks at sleepers only while there are some. */
    private void arrived() {
        side.readable();
        synchronized (watching) {
            if (!cq.isArmed()) { // whoever arms it later watches again
                unwatch();
            }
        }
    }

    private void unwatch() {
        watched.forEach(s -> context.engine().forget(s.fd()));
        watched.clear();
    }

    @Override
    public void fail(String reason) {
        try {
            context.spreading().move("fail " + describe(), this, WorkQueueState.ERR);
        } catch (VerbsException e) {
            XdpLog.log(System.Logger.Level.WARNING, describe() + " has failed", e);
        }
        context.raise(AsyncEvent.builder(AsyncEventType.WQ_FATAL, this).detail(reason).build());
    }

    @Override
    public String describe() {
        return "WQ 0x" + Integer.toHexString(number) + " of " + context.describe();
    }

    @Override
    protected void implClose() {
        context.spreading().forget(this);
        cq.remove(side);
        context.releaseWorkQueue(index, number);
    }
}
