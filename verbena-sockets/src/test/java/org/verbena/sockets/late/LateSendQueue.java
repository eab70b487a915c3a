// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.late;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;

import org.verbena.linux.Errno;
import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairState;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.SendQueue;
import org.verbena.verbs.VerbsException;

/**
 * A send queue that notes what is posted, and has a thread of its own, the adapter, post it to {@code shm0} some time
 * later. So buffers are read long after the post, and arrive without polls. It takes no more than it was created for,
 * less if something of it is under way and the seed decides so, and counts as hardware does: a request has its place
 * until its completion, or that of a later one, was polled.
 */
final class LateSendQueue extends SendQueue {
    private static final int LONGEST_NAP_NANOS = 200_000;
    private static final int LONGEST_SLEEP_NANOS = 3_000_000;
    private static final int ONE_IN_SLEEPS = 32;
    private static final int ONE_IN_IS_REFUSED = 16;
    private static final int LARGEST_BURST = 6;

    /** A call that is repeated on the inner queue. */
    private interface Call {
        void on(SendQueue queue);
    }

    private final QueuePair qp;
    private final int places;
    private final boolean allSignalled;
    private final SplittableRandom random = Lateness.random();
    private final SplittableRandom adapterRandom = Lateness.random();
    private final LinkedBlockingQueue<List<Call>> posted = new LinkedBlockingQueue<>();
    private final Thread adapter;
    private volatile boolean closed;

    private List<Call> batch = new ArrayList<>();
    private final List<Boolean> signalled = new ArrayList<>();
    private int error = Errno.EINVAL; // no batch is open

    /** Requests up to each signalled one, of those that are under way; and those after the last one. */
    private final ArrayDeque<Integer> underWay = new ArrayDeque<>();
    private int unsignalled;
    private int taken;

    LateSendQueue(QueuePair qp, QueuePairInitAttributes init) {
        this.qp = qp;
        places = init.maxSendWr();
        allSignalled = init.sqSigAll();
        adapter = Thread.ofPlatform().daemon().name("late-adapter-" + qp.number()).start(this::carryOut);
    }

    private void carryOut() {
        try {
            while (!closed) {
                List<Call> first = posted.take();
                boolean sleeps = adapterRandom.nextInt(ONE_IN_SLEEPS) == 0;
                LockSupport.parkNanos(adapterRandom.nextInt(sleeps ? LONGEST_SLEEP_NANOS : LONGEST_NAP_NANOS));
                carryOut(first);
                for (int burst = adapterRandom.nextInt(LARGEST_BURST); burst > 0 && !posted.isEmpty(); burst--) {
                    carryOut(posted.take());
                }
            }
        } catch (InterruptedException e) {
            // it is closed: what was posted is lost with it
        }
    }

    private void carryOut(List<Call> calls) {
        SendQueue queue = qp.sendQueue().start();
        calls.forEach(call -> call.on(queue));
        int refused = closed ? 0 : queue.complete();
        if (refused != 0) {
            System.err.println("late0: " + qp.describe() + " takes a batch no more: " + Errno.name(refused));
            try {
                qp.modify(QueuePairAttributes.builder().state(QueuePairState.ERR).build());
            } catch (VerbsException e) {
                System.err.println("late0: " + e.getMessage());
            }
        }
    }

    /** One that was signalled has been polled, by the thread that posts or under the same lock. */
    void completed() {
        taken -= underWay.remove();
    }

    /** Its adapter touches the inner queue no more when this returns. */
    void close() {
        closed = true;
        adapter.interrupt();
        boolean interrupted = false;
        while (adapter.isAlive()) {
            try {
                adapter.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public SendQueue start() {
        batch = new ArrayList<>();
        signalled.clear();
        error = 0;
        return this;
    }

    private SendQueue request(int flags, Call call) {
        signalled.add(allSignalled || (flags & SendFlags.SIGNALED) != 0);
        batch.add(call);
        return this;
    }

    @Override
    public SendQueue send(long wrId, int flags) {
        return request(flags, queue -> queue.send(wrId, flags));
    }

    @Override
    public SendQueue sendImmediate(long wrId, int flags, int immediate) {
        return request(flags, queue -> queue.sendImmediate(wrId, flags, immediate));
    }

    @Override
    public SendQueue write(long wrId, int flags, int rkey, long remoteAddress) {
        return request(flags, queue -> queue.write(wrId, flags, rkey, remoteAddress));
    }

    @Override
    public SendQueue writeImmediate(long wrId, int flags, int rkey, long remoteAddress, int immediate) {
        return request(flags, queue -> queue.writeImmediate(wrId, flags, rkey, remoteAddress, immediate));
    }

    @Override
    public SendQueue read(long wrId, int flags, int rkey, long remoteAddress) {
        return request(flags, queue -> queue.read(wrId, flags, rkey, remoteAddress));
    }

    @Override
    public SendQueue compareAndSwap(long wrId, int flags, int rkey, long remoteAddress, long compare, long swap) {
        return request(flags, queue -> queue.compareAndSwap(wrId, flags, rkey, remoteAddress, compare, swap));
    }

    @Override
    public SendQueue fetchAndAdd(long wrId, int flags, int rkey, long remoteAddress, long add) {
        return request(flags, queue -> queue.fetchAndAdd(wrId, flags, rkey, remoteAddress, add));
    }

    @Override
    public SendQueue sge(int lkey, long address, long length) {
        batch.add(queue -> queue.sge(lkey, address, length));
        return this;
    }

    @Override
    public SendQueue inline(MemorySegment data, long offset, long length) {
        if (offset < 0 || length < 0 || offset > data.byteSize() - length) {
            error = Errno.EINVAL;
        } else {
            byte[] copy = data.asSlice(offset, length).toArray(java.lang.foreign.ValueLayout.JAVA_BYTE);
            batch.add(queue -> queue.inline(MemorySegment.ofArray(copy), 0, copy.length));
        }
        return this;
    }

    @Override
    public int complete() {
        int answer = closed ? Errno.EINVAL : error;
        error = Errno.EINVAL;
        if (answer == 0 && (taken + signalled.size() > places
                || taken > unsignalled && random.nextInt(ONE_IN_IS_REFUSED) == 0)) {
            answer = Errno.ENOMEM;
        }
        if (answer == 0) {
            taken += signalled.size();
            for (boolean s : signalled) {
                unsignalled++;
                if (s) {
                    underWay.add(unsignalled);
                    unsignalled = 0;
                }
            }
            posted.add(batch);
        }
        return answer;
    }

    @Override
    public void abort() {
        error = Errno.EINVAL;
    }

    @Override
    protected SendQueue unsupported() {
        error = error == 0 ? Errno.EOPNOTSUPP : error;
        return this;
    }
}
