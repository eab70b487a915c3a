// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.Membarrier;
import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.completion.CompletionCursor;
import org.verbena.shm.completion.Moderation;
import org.verbena.shm.completion.PoolCompletions;
import org.verbena.shm.completion.PoolSources;
import org.verbena.shm.completion.ReadySet;
import org.verbena.shm.control.Session;
import org.verbena.shm.layout.ArmWord;
import org.verbena.shm.layout.ShmLimits;
import org.verbena.telemetry.CounterEntry;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.CompletionQueueModification;
import org.verbena.verbs.SamplePoint;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.BellChannel;
import org.verbena.verbs.spi.PublishedObjects;

/**
 * A completion queue: a cursor over the lanes and send completions of its queue pairs. It holds no entries itself, so it
 * cannot overrun; each source has room for all that can be outstanding.
 *
 * <p>A thread that commits a completion and finds the {@link ArmWord} armed signals the channel once for each value of the word.
 * With few queue pairs, a poll polls each; with many it goes by the marks in a {@link ReadySet}, and if there are none,
 * or once in a while, it polls one in turn.
 */
final class ShmCompletionQueue extends CompletionCursor implements BellChannel.Source, Moderation.Queue {
    /** With many queue pairs, one poll of this mask + 1 first polls one in turn; one less than a power of two. */
    private static final int IN_TURN = 15;
    private static final VarHandle ARMED;
    private static final VarHandle INSIDE;

    static {
        try {
            ARMED = MethodHandles.lookup().findVarHandle(ShmCompletionQueue.class, "armed", long.class);
            INSIDE = MethodHandles.lookup().findVarHandle(ShmCompletionQueue.class, "inside", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final ContextInternals internals;
    private final int armIndex;
    private final long armAddress;
    private final CounterEntry counters;
    private volatile int cqe;
    private volatile QueuePairBase[] sources = {};
    /** Those of shared receive queues of type XRC; null if there are none, as a rule. */
    private volatile @Nullable PoolSources pools;
    private boolean poolsFirst;
    private int next;
    /** Null until there are many queue pairs. */
    private volatile @Nullable ReadySet ready;
    /** Those of the set, by index; published with it. */
    private @Nullable QueuePairBase[] marked = {};
    /** Marks may be missing: poll each queue pair once. */
    private volatile boolean pollAll;
    /** Queue pairs left of that round. */
    private int pollAllLeft;
    private int polls;
    /** Not 0 during a poll, and a different number each time. */
    @SuppressWarnings("unused") // INSIDE
    private long inside;
    private long entered;

    private long armed;
    private volatile long locallyNotified;
    /** Null until events are moderated for the first time. */
    private volatile @Nullable Moderation moderation;
    /** The moderated word for which there is an event. */
    private volatile long raised;

    ShmCompletionQueue(ContextInternals internals, CompletionQueueAttributes attributes) throws VerbsException {
        super(internals.context(), attributes);
        this.internals = internals;
        cqe = rounded(attributes.cqe());
        try {
            armIndex = internals.adapter().takeArmWord();
        } catch (VerbsException e) {
            abandon();
            throw e;
        }
        armAddress = internals.adapter().armWord(armIndex);
        counters = internals.published().completionQueue(armIndex, attributes);
        publish(counters);
        countIn(counters);
        RawMemory.putLongRelease(armAddress, 0);
        if (attributes.channel() instanceof ShmCompletionChannel c) {
            c.add(this);
        }
        opened();
    }

    /** The id by which other processes find its counters. */
    long publishedId() {
        return counters.id();
    }

    int armIndex() {
        return armIndex;
    }

    @Nullable
    ShmCompletionChannel shmChannel() {
        return (ShmCompletionChannel) channel();
    }

    private static int rounded(int entries) {
        return entries == 1 ? 1 : Integer.highestOneBit(entries - 1) << 1;
    }

    synchronized void add(QueuePairBase qp) {
        QueuePairBase[] old = sources;
        for (QueuePairBase q : old) {
            if (q == qp) {
                return;
            }
        }
        QueuePairBase[] more = Arrays.copyOf(old, old.length + 1);
        more[old.length] = qp;
        sources = more;
        ReadySet r = ready;
        if (r != null) {
            marked[qp.index()] = qp;
            r.mark(qp.index());
            pollAll = true;
        } else if (more.length >= ReadySet.THRESHOLD) {
            expectMarks(more);
        }
    }

    private void expectMarks(QueuePairBase[] all) {
        ReadySet r = new ReadySet();
        marked = new QueuePairBase[ReadySet.SIZE];
        for (QueuePairBase q : all) {
            marked[q.index()] = q;
            r.mark(q.index());
        }
        ready = r;
        connectionsChanged();
        ARMED.setVolatile(this, armed | ArmWord.MANY);
        RawMemory.putLongRelease(armAddress, armed);
        // from here on every committer sees the word, or its completion is found by the round that follows
        Membarrier.ownProcess();
        pollAll = true;
    }

    synchronized void remove(QueuePairBase qp) {
        sources = Arrays.stream(sources).filter(q -> q != qp).toArray(QueuePairBase[]::new);
        ReadySet r = ready;
        if (r != null) {
            marked[qp.index()] = null;
            connectionsChanged();
        }
    }

    /** A queue pair has been connected to another peer, or to none. */
    synchronized void connectionsChanged() {
        ReadySet r = ready;
        if (r != null) {
            Map<Session, List<Integer>> receivers = new HashMap<>();
            for (QueuePairBase q : sources) {
                if (q.receivesOn(this)) {
                    for (Session s : q.source().sessions()) {
                        receivers.computeIfAbsent(s, _ -> new ArrayList<>()).add(q.index());
                    }
                }
            }
            r.watch(receivers.entrySet().stream().map(e -> ReadySet.Counts.of(e.getKey().mapping(), e.getValue()))
                    .toList());
            pollAll = true;
        }
    }

    /** Completions of a shared receive queue are found here from now on. */
    synchronized void add(PoolCompletions pool) {
        pools = PoolSources.with(pools, pool);
    }

    synchronized void remove(PoolCompletions pool) {
        pools = PoolSources.without(pools, pool);
    }

    /** Waits until polls that began before are over; after a {@code membarrier}, and not from a poll. */
    void awaitPoller() {
        long then = (long) INSIDE.getAcquire(this);
        for (int round = 0; then != 0 && (long) INSIDE.getAcquire(this) == then; round++) {
            if (round < 1000) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(50_000);
            }
        }
    }

    @Override
    public int cqe() {
        return cqe;
    }

    /** The number only limits what the application expects, and no memory depends on it; so only waiting completions forbid it. */
    @Override
    protected synchronized void implResize(int newCqe) throws VerbsException {
        int entries = rounded(newCqe);
        long waiting = 0;
        for (QueuePairBase qp : sources) {
            waiting += qp.source().waiting(this);
        }
        PoolSources p = pools;
        waiting += p == null ? 0 : p.waiting();
        if (waiting > entries) {
            throw new VerbsException("resize " + describe(), Errno.EINVAL, waiting + " completions wait to be polled, "
                    + entries + (entries == 1 ? " entry is" : " entries are") + " too few");
        }
        cqe = entries;
    }

    @Override
    public long completions() {
        long n = 0;
        for (QueuePairBase qp : sources) {
            n += qp.source().completions(this);
        }
        PoolSources p = pools;
        return p == null ? n : n + p.completions();
    }

    @Override
    protected void implModify(CompletionQueueModification change) throws VerbsException {
        if ((change.mask() & ~CompletionQueueModification.MODERATE) != 0) {
            throw new VerbsException("modify " + describe(), Errno.EOPNOTSUPP,
                    "attributes 0x" + Integer.toHexString(change.mask()) + " are not all known to shm0");
        }
        if (change.mask() == 0) {
            return;
        }
        long before = 0;
        long after = 0;
        synchronized (this) {
            Moderation m = moderation;
            if (m == null) {
                m = new Moderation(this);
                moderation = m;
                internals.engine().startPolling(m);
            }
            m.set(change.moderationCount(), change.moderationPeriodMicros());
            if (ArmWord.isArmed(armed) && !ArmWord.isModerated(armed) && !event(false)) {
                before = armed;
                after = ArmWord.moderate(before);
                m.armed(completions());
                publish(after);
            }
        }
        // from here on every committer sees the word
        Membarrier.ownProcess();
        if (after != 0 && wasNotified(before)) {
            raise(after); // a committer had seen the old one, and signals no other
        }
        internals.engine().pollAgain();
    }

    private void publish(long word) {
        ARMED.setVolatile(this, word);
        RawMemory.putLongRelease(armAddress, word);
    }

    @Override
    public int startPoll() {
        return isClosed() ? Errno.EINVAL : nextPoll();
    }

    @Override
    public int nextPoll() {
        INSIDE.setOpaque(this, ++entered);
        VarHandle.releaseFence(); // no instruction on x86: the queue pairs are read after the store, see awaitPoller
        int answer;
        try {
            PoolSources p = pools;
            answer = p == null ? pollQueuePairs() : pollBoth(p);
        } finally {
            INSIDE.setRelease(this, 0L);
        }
        if (answer != 0) {
            emptyPoll();
        }
        return answer;
    }

    /** In turn, so that neither kind hides the other. */
    private int pollBoth(PoolSources p) {
        poolsFirst = !poolsFirst;
        if (poolsFirst) {
            return p.poll(this) ? 0 : pollQueuePairs();
        }
        return pollQueuePairs() == 0 || p.poll(this) ? 0 : Errno.ENOENT;
    }

    private int pollQueuePairs() {
        QueuePairBase[] s = sources;
        int n = s.length;
        if (n == 1) {
            return s[0].poll(this) ? 0 : Errno.ENOENT;
        }
        ReadySet r = ready;
        if (r != null) {
            return pollMany(s, r) ? 0 : Errno.ENOENT;
        }
        for (int k = 0; k < n; k++) {
            if (pollNext(s)) {
                return 0;
            }
        }
        return Errno.ENOENT;
    }

    private boolean pollNext(QueuePairBase[] s) {
        int at = next < s.length ? next : 0;
        next = at + 1;
        return s[at].poll(this);
    }

    private boolean pollMany(QueuePairBase[] s, ReadySet r) {
        if (s.length == 0) {
            return false;
        }
        if (pollAll) {
            pollAll = false;
            pollAllLeft = s.length;
        }
        // one in turn once in a while, whatever is marked: waiting sends make progress when they are polled
        if ((++polls & IN_TURN) == 0 && pollAllLeft == 0) {
            pollAllLeft = 1;
        }
        for (; pollAllLeft > 0; pollAllLeft--) {
            if (pollNext(s, r)) {
                return true;
            }
        }
        // as often as there can be marks: a peer that raises its counts endlessly is not polled endlessly
        for (int n = 2 * s.length; n > 0; n--) {
            int i = r.next();
            if (i < 0) {
                break;
            }
            QueuePairBase qp = marked[i];
            boolean found = qp != null && qp.poll(this);
            r.found(i, found);
            if (found) {
                return true;
            }
        }
        return pollNext(s, r);
    }

    private boolean pollNext(QueuePairBase[] s, ReadySet r) {
        if (!pollNext(s)) {
            return false;
        }
        r.mark(s[next - 1].index()); // perhaps there are more without a mark
        return true;
    }

    @Override
    public void endPoll() {
        // completions are consumed as the cursor reaches them
    }

    @Override
    public int requestNotify(boolean solicitedOnly) {
        if (isClosed() || channel() == null) {
            return Errno.EINVAL;
        }
        counters.add(PublishedObjects.cell(SamplePoint.CQ_NOTIFY_REQUESTS), 1);
        arm(solicitedOnly);
        // from here on every committer, here and in other processes, sees the word, or its completion is seen by the poll that
        // follows
        Membarrier.ownProcess();
        pollAll = true; // a mark may follow its completion only now
        return 0;
    }

    /** Writes the next arm word, and passes no barrier. */
    synchronized void arm(boolean solicitedOnly) {
        long word = ArmWord.arm(armed, solicitedOnly);
        Moderation m = moderation;
        if (m != null && m.isOn()) {
            m.armed(completions());
            word |= ArmWord.MODERATED;
        }
        publish(word);
    }

    /** For completions of {@code qp} made by this process: signals the channel if armed. */
    void signal(QueuePairBase qp, boolean solicited) {
        // no instruction on x86: the word is read after the completion is stored, see requestNotify
        VarHandle.releaseFence();
        long word = (long) ARMED.getOpaque(this);
        if (!ArmWord.isQuiet(word)) {
            react(qp, word, solicited);
        }
    }

    private void react(QueuePairBase qp, long word, boolean solicited) {
        ReadySet r = ready;
        if (r != null) {
            r.mark(qp.index());
        }
        if (ArmWord.isArmed(word, solicited) && locallyNotified != word) {
            notifyLocally(word);
        }
    }

    private void notifyLocally(long word) {
        synchronized (this) {
            if (!ArmWord.isSame(word, armed)) {
                return; // it was armed again since, and that may have been signalled
            }
            locallyNotified = word;
        }
        if (ArmWord.isModerated(word)) {
            internals.engine().pollAgain();
        } else {
            signalChannel();
        }
    }

    private void signalChannel() {
        ShmCompletionChannel c = shmChannel();
        if (c != null) {
            c.signal();
        }
    }

    @Override
    public CompletionQueue queue() {
        return this;
    }

    /** True if an event waits; then, if {@code take}, disarms. */
    @Override
    public synchronized boolean event(boolean take) {
        long word = armed;
        if (!ArmWord.isArmed(word)
                || !(ArmWord.isModerated(word) ? ArmWord.isSame(raised, word) : wasNotified(word))) {
            return false;
        }
        if (take) {
            counters.add(PublishedObjects.cell(SamplePoint.CQ_EVENTS), 1);
            publish(ArmWord.disarm(word));
        }
        return true;
    }

    @Override
    public synchronized long moderatedWord() {
        long word = armed;
        return ArmWord.isArmed(word) && ArmWord.isModerated(word) && !ArmWord.isSame(raised, word) ? word : 0;
    }

    @Override
    public void raise(long word) {
        synchronized (this) {
            if (!ArmWord.isSame(word, armed)) {
                return;
            }
            raised = armed;
        }
        signalChannel();
    }

    @Override
    public long armAgain(long word) {
        long again;
        synchronized (this) {
            if (!ArmWord.isSame(word, armed)) {
                return armed; // it was armed again since
            }
            again = ArmWord.moderate(ArmWord.arm(armed, false));
            publish(again);
        }
        Membarrier.ownProcess();
        return again;
    }

    @Override
    public boolean wasNotified(long word) {
        if (ArmWord.isSame(locallyNotified, word)) {
            return true;
        }
        for (QueuePairBase qp : sources) {
            if (qp.receivesOn(this) && qp.source().isNotified(word)) {
                return true;
            }
        }
        PoolSources p = pools;
        return p != null && p.isNotified(word);
    }

    @Override
    public String describe() {
        return "CQ " + armIndex + " of " + ShmLimits.DEVICE;
    }

    @Override
    protected void implClose() {
        ShmCompletionChannel c = shmChannel();
        if (c != null) {
            c.remove(this);
        }
        RawMemory.putLongRelease(armAddress, 0);
        internals.adapter().giveArmWord(armIndex);
    }
}
