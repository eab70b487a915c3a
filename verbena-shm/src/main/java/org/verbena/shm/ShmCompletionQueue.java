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

    private long wrId;
    private int status;
    private int opcode;
    private int vendorError;
    private long byteLength;
    private int immediate;
    private int flags;
    private int queuePairNumber;
    private int sourceQueuePair;
    private long timestamp;

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

    void set(long id, int wcStatus, int wcOpcode, int vendor, long length, int imm, int wcFlags, int qpn, int peerQpn,
            long nanos) {
        wrId = id;
        status = wcStatus;
        opcode = wcOpcode;
        vendorError = vendor;
        byteLength = length;
        immediate = imm;
        flags = wcFlags;
        queuePairNumber = qpn;
        sourceQueuePair = peerQpn;
        timestamp = nanos;
    }

    @Override
    public long wrId() {
        return wrId;
    }

    @Override
    public int status() {
        return status;
    }

    @Override
    public int opcode() {
        return opcode;
    }

    @Override
    public int vendorError() {
        return vendorError;
    }

    @Override
    public long byteLength() {
        return byteLength;
    }

    @Override
    public int immediate() {
        return immediate;
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
        return flags;
    }

    @Override
    public long timestamp() {
        return timestamp;
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
