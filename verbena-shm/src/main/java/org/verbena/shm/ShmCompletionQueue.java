package org.verbena.shm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.Membarrier;
import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.WcFlags;
import org.verbena.verbs.WcStatus;

/**
 * A completion queue: a cursor over the lanes and send completions of its queue pairs. It holds no entries itself, so it
 * cannot overrun; each source has room for all that can be outstanding.
 *
 * <p>The arm word is {@code sequence:62 | mode:2}. Whoever commits a completion and finds the word armed signals the
 * channel once for each value of the word.
 */
final class ShmCompletionQueue extends CompletionQueue {
    private static final int SOLICITED_ONLY = 1;
    private static final int ANY = 2;
    private static final VarHandle ARMED;

    static {
        try {
            ARMED = MethodHandles.lookup().findVarHandle(ShmCompletionQueue.class, "armed", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final ShmContext context;
    private final int armIndex;
    private final long armAddress;
    private final int cqe;
    private volatile ShmQueuePair[] sources = {};
    private int next;

    private long armed;
    private volatile long locallyNotified;

    // the cursor
    private int queuePairNumber;
    private int sourceQueuePair;
    private long wrId;
    private long word;
    private long byteLength;
    private int immediate;
    private long timestamp;
    private int vendorError;

    ShmCompletionQueue(ShmContext context, CompletionQueueAttributes attributes) throws VerbsException {
        super(context, attributes);
        this.context = context;
        int cqeAsked = attributes.cqe();
        cqe = cqeAsked == 1 ? 1 : Integer.highestOneBit(cqeAsked - 1) << 1;
        try {
            armIndex = context.adapter().takeArmWord();
        } catch (VerbsException e) {
            abandon();
            throw e;
        }
        armAddress = context.adapter().armWord(armIndex);
        RawMemory.putLongRelease(armAddress, 0);
        if (attributes.channel() instanceof ShmCompletionChannel c) {
            c.add(this);
        }
        opened();
    }

    /** True if a completion is to signal the channel. */
    static boolean isArmed(long word, boolean solicited) {
        int mode = (int) word & 3;
        return mode == ANY || mode == SOLICITED_ONLY && solicited;
    }

    int armIndex() {
        return armIndex;
    }

    @Nullable
    ShmCompletionChannel shmChannel() {
        return (ShmCompletionChannel) channel();
    }

    boolean hasTimestamps() {
        return (fields() & CompletionQueueAttributes.WITH_COMPLETION_TIMESTAMP) != 0;
    }

    synchronized void add(ShmQueuePair qp) {
        ShmQueuePair[] old = sources;
        for (ShmQueuePair q : old) {
            if (q == qp) {
                return;
            }
        }
        ShmQueuePair[] more = java.util.Arrays.copyOf(old, old.length + 1);
        more[old.length] = qp;
        sources = more;
    }

    synchronized void remove(ShmQueuePair qp) {
        sources = java.util.Arrays.stream(sources).filter(q -> q != qp).toArray(ShmQueuePair[]::new);
    }

    @Override
    public int cqe() {
        return cqe;
    }

    @Override
    public int startPoll() {
        return isClosed() ? Errno.EINVAL : nextPoll();
    }

    @Override
    public int nextPoll() {
        ShmQueuePair[] s = sources;
        int n = s.length;
        if (n == 1) {
            return s[0].poll(this) ? 0 : Errno.ENOENT;
        }
        int at = next < n ? next : 0;
        for (int k = 0; k < n; k++) {
            ShmQueuePair qp = s[at];
            at = at + 1 == n ? 0 : at + 1;
            if (qp.poll(this)) {
                next = at;
                return 0;
            }
        }
        return Errno.ENOENT;
    }

    @Override
    public void endPoll() {
        // completions are consumed as the cursor reaches them
    }

    /** Puts the cursor on a completion; {@code what} is as in a lane's commit: opcode, status and flags. */
    void set(ShmQueuePair qp, long id, long what, long length) {
        // numbers, not the queue pair: the store of a reference may cost a fence, depending on the garbage collector
        queuePairNumber = qp.number();
        sourceQueuePair = qp.peerNumber();
        wrId = id;
        word = what;
        byteLength = length;
    }

    /** What not every completion has; read only if the flags, or a status, say that it is there. */
    void setMore(int imm, long nanos, int vendor) {
        immediate = imm;
        timestamp = nanos;
        vendorError = vendor;
    }

    @Override
    public long wrId() {
        return wrId;
    }

    @Override
    public int status() {
        return LaneLayout.status(word);
    }

    @Override
    public int opcode() {
        return LaneLayout.opcode(word);
    }

    @Override
    public int vendorError() {
        return status() == WcStatus.SUCCESS ? 0 : vendorError;
    }

    @Override
    public long byteLength() {
        return byteLength;
    }

    @Override
    public int immediate() {
        return (LaneLayout.flags(word) & LaneLayout.HAS_IMMEDIATE) != 0 ? immediate : 0;
    }

    @Override
    public int queuePairNumber() {
        return queuePairNumber;
    }

    @Override
    public int sourceQueuePair() {
        return sourceQueuePair;
    }

    @Override
    public int flags() {
        return (LaneLayout.flags(word) & LaneLayout.HAS_IMMEDIATE) != 0 ? WcFlags.WITH_IMM : 0;
    }

    @Override
    public long timestamp() {
        return (LaneLayout.flags(word) & LaneLayout.HAS_TIMESTAMP) != 0 ? timestamp : 0;
    }

    @Override
    public int requestNotify(boolean solicitedOnly) {
        if (isClosed() || channel() == null) {
            return Errno.EINVAL;
        }
        long word;
        synchronized (this) {
            word = ((armed >>> 2) + 1) << 2 | (solicitedOnly && (armed & 3) != ANY ? SOLICITED_ONLY : ANY);
            ARMED.setVolatile(this, word);
            RawMemory.putLongRelease(armAddress, word);
        }
        // from here on every committer sees the word, or its completion is seen by the poll that follows
        Membarrier.globalExpedited();
        return 0;
    }

    /** For completions made by this process: signals the channel if armed. */
    void signal(boolean solicited) {
        // as in SendExecutor.notify: the look at the word stays behind the completion
        VarHandle.releaseFence();
        long word = (long) ARMED.getOpaque(this);
        if (isArmed(word, solicited) && locallyNotified != word) {
            locallyNotified = word;
            ShmCompletionChannel c = shmChannel();
            if (c != null) {
                c.signal();
            }
        }
    }

    /** True if an event waits; then, if {@code take}, disarms. */
    synchronized boolean event(boolean take) {
        long word = armed;
        if ((word & 3) == 0 || !wasNotified(word)) {
            return false;
        }
        if (take) {
            ARMED.setVolatile(this, word & ~3L);
            RawMemory.putLongRelease(armAddress, word & ~3L);
        }
        return true;
    }

    private boolean wasNotified(long word) {
        if (locallyNotified == word) {
            return true;
        }
        for (ShmQueuePair qp : sources) {
            if (qp.receiveCompletionQueue() == this && qp.peerNotified() == word) {
                return true;
            }
        }
        return false;
    }

    @Override
    public String describe() {
        return "CQ " + armIndex + " of " + context.describe();
    }

    @Override
    protected void implClose() {
        ShmCompletionChannel c = shmChannel();
        if (c != null) {
            c.remove(this);
        }
        RawMemory.putLongRelease(armAddress, 0);
        context.adapter().giveArmWord(armIndex);
    }
}
