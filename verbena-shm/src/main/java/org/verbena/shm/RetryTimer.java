// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import org.verbena.linux.spi.RawMemory;
import org.verbena.shm.control.RemoteQueuePair;
import org.verbena.shm.layout.AdapterLayout;
import org.verbena.verbs.QueuePairAttributes;
import org.verbena.verbs.QueuePairType;

/**
 * How long the oldest work request of a queue pair may wait: the transport's two retry rules in terms of time, since
 * nothing is retransmitted. Used by one thread at a time; accessed only while a request waits.
 */
final class RetryTimer {
    /** The value of {@code rnr_retry} that means without limit. */
    private static final int INFINITE_RETRY = 7;
    /** How long a request of type UC, which has no time-out of its own, waits for its peer's answer, as a time-out's code: 0.27 s. */
    private static final int UNRELIABLE_TIMEOUT = 16;
    /** The RNR timer's codes in units of 10 µs, InfiniBand specification volume 1, table 45. */
    private static final int[] RNR_TIMER = {65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384,
        512,
        768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};

    private final QueuePairBase qp;
    /** The least wait for the owner of the named queue, which has to look up the requesting queue pair. */
    private static final long OWNER_NANOS = 1_000_000_000;
    /** The least wait for memory in transit: a thread of this process takes it, and not the peer, which has sent it. */
    private static final long MEMORY_NANOS = 5_000_000_000L;

    private volatile boolean waiting;
    private volatile boolean starving;
    /** The least wait for an answer, which also identifies the awaited answer; of the thread that executes. */
    private long least;
    private volatile long until;

    RetryTimer(QueuePairBase qp) {
        this.qp = qp;
    }

    /** The wait is over. */
    void forget() {
        if (waiting) {
            waiting = false;
            least = 0;
            if (starving) {
                starving = false;
                qp.receiveWaitEnded();
            }
        }
    }

    /** No receive is posted: true while the retries are not used up. */
    boolean mayWaitForReceive(RemoteQueuePair r) {
        if (!waiting || !starving) {
            int code = RawMemory.getInt(r.entry + AdapterLayout.QP_RNR_TIMER) & 31;
            int retries = qp.attributes().rnrRetry();
            until = retries == INFINITE_RETRY
                    ? Long.MAX_VALUE
                    : System.nanoTime() + (retries + 1) * (RNR_TIMER[code] * 10_000L);
            if (qp.type() == QueuePairType.XRC_SEND) {
                qp.restartReceiveWait(); // the receive may be needed of another queue than before
            }
            waiting = true;
            starving = true;
            least = 0;
            qp.requestProgress();
            return true;
        }
        return mayWait();
    }

    /** The peer's queue pair is not there: true while the retries are not used up. */
    boolean mayWaitForPeer() {
        return mayWaitForAnswer(0);
    }

    /** The owner of the named shared receive queue has not answered: true for the timeout, and a second at least. */
    boolean mayWaitForOwner() {
        return mayWaitForAnswer(OWNER_NANOS);
    }

    /** Memory of the peer has not arrived here: true for the timeout, and some seconds at least. */
    boolean mayWaitForMemory() {
        return mayWaitForAnswer(MEMORY_NANOS);
    }

    private boolean mayWaitForAnswer(long atLeast) {
        if (!waiting || starving || least != atLeast) {
            forget();
            QueuePairAttributes a = qp.attributes();
            int timeout = qp.type() == QueuePairType.UC ? UNRELIABLE_TIMEOUT : a.timeout();
            long nanos = (4096L << timeout) * (a.retryCount() + 1);
            until = timeout == 0 ? Long.MAX_VALUE : System.nanoTime() + Math.max(nanos, atLeast);
            waiting = true;
            qp.sendCounts().waitedForPeer();
            least = atLeast;
            qp.requestProgress();
            return true;
        }
        return mayWait();
    }

    /** The peer has not polled its completions: waits without limit, as for a slow peer. */
    void waitForRoom() {
        if (!waiting || starving) {
            forget();
            until = Long.MAX_VALUE;
            waiting = true;
            qp.requestProgress();
        }
    }

    /** True while the oldest request, which has been tried, waits, for whatever cause. */
    boolean isWaiting() {
        return waiting;
    }

    boolean waitsForReceive() {
        return waiting && starving;
    }

    boolean waitsIndefinitely() {
        return waiting && until == Long.MAX_VALUE;
    }

    private boolean mayWait() {
        if (until == Long.MAX_VALUE || System.nanoTime() - until < 0) {
            return true;
        }
        forget();
        return false;
    }
}
