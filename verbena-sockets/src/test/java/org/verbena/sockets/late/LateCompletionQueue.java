// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.late;

import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;

import org.verbena.linux.Errno;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.Context;
import org.verbena.verbs.VerbsException;

/**
 * A queue that shows what has completed a few at a time, with pauses in which it shows nothing. One with a channel
 * shows all at once: after an event the completion is there.
 */
final class LateCompletionQueue extends CompletionQueue {
    private static final int LARGEST_BATCH = 8;
    private static final int LONGEST_PAUSE_NANOS = 300_000;

    final CompletionQueue inner;
    private final boolean prompt;
    private final SplittableRandom random = Lateness.random();
    private final Map<Integer, LateSendQueue> senders = new ConcurrentHashMap<>();
    private int left;
    private long pauseEnds = System.nanoTime();

    @SuppressWarnings("this-escape") // the inner queue keeps it, for events
    LateCompletionQueue(LateContext context, CompletionQueueAttributes attributes, Context of) throws VerbsException {
        super(context, attributes);
        CompletionQueueAttributes.Builder a = CompletionQueueAttributes.builder().cqe(attributes.cqe())
                .fields(attributes.fields()).completionVector(attributes.completionVector()).userContext(this);
        prompt = attributes.channel() != null;
        if (attributes.channel() instanceof LateCompletionChannel channel) {
            a.channel(channel.inner);
        }
        inner = of.createCompletionQueue(a.build());
        context.adopt(this);
        opened();
    }

    /** What completes here of the queue pair of that number frees room in its send queue. */
    void completes(int queuePair, LateSendQueue queue) {
        senders.put(queuePair, queue);
    }

    private boolean shows() {
        if (prompt || left > 0) {
            return true;
        }
        if (System.nanoTime() - pauseEnds < 0) {
            return false;
        }
        left = 1 + random.nextInt(LARGEST_BATCH);
        return true;
    }

    private void shown() {
        left--;
        if (left == 0) {
            pauseEnds = System.nanoTime() + random.nextInt(LONGEST_PAUSE_NANOS);
        }
        LateSendQueue of = senders.get(inner.queuePairNumber());
        if (of != null) {
            of.completed();
        }
    }

    @Override
    public int startPoll() {
        int error = shows() ? inner.startPoll() : Errno.ENOENT;
        if (error == 0) {
            shown();
        }
        return error;
    }

    @Override
    public int nextPoll() {
        int error = shows() ? inner.nextPoll() : Errno.ENOENT;
        if (error == 0) {
            shown();
        }
        return error;
    }

    @Override
    public void endPoll() {
        inner.endPoll();
    }

    @Override
    public int cqe() {
        return inner.cqe();
    }

    @Override
    public long wrId() {
        return inner.wrId();
    }

    @Override
    public int status() {
        return inner.status();
    }

    @Override
    public int opcode() {
        return inner.opcode();
    }

    @Override
    public int vendorError() {
        return inner.vendorError();
    }

    @Override
    public long byteLength() {
        return inner.byteLength();
    }

    @Override
    public int immediate() {
        return inner.immediate();
    }

    @Override
    public int queuePairNumber() {
        return inner.queuePairNumber();
    }

    @Override
    public int flags() {
        return inner.flags();
    }

    @Override
    public int requestNotify(boolean solicitedOnly) {
        return inner.requestNotify(solicitedOnly);
    }

    @Override
    public String describe() {
        return "late " + inner.describe();
    }

    @Override
    protected void implClose() throws VerbsException {
        inner.close();
    }
}
