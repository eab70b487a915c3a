// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import java.util.Arrays;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * The deadlines of queue pairs: a heap with the earliest on top. Moving a deadline to a later time costs nothing, since
 * the entry stays where it is and is re-evaluated at its old time: that is what happens with each ACK.
 */
final class Timers {
    /** No deadline. */
    static final long NEVER = Long.MAX_VALUE;
    private static final int FIRST_SIZE = 16;

    private @Nullable TransportQueuePair[] heap = new TransportQueuePair[FIRST_SIZE];
    private int size;

    /** Sets a queue pair's deadline, unless an earlier one is set. */
    void set(TransportQueuePair queuePair, long when) {
        if (when == NEVER) {
            return;
        }
        int i = queuePair.heapIndex;
        if (i < 0) {
            if (size == heap.length) {
                heap = Arrays.copyOf(heap, size * 2);
            }
            i = size++;
        } else if (queuePair.heapTime <= when) {
            return;
        }
        queuePair.heapTime = when;
        up(queuePair, i);
    }

    void remove(TransportQueuePair queuePair) {
        int i = queuePair.heapIndex;
        if (i < 0) {
            return;
        }
        queuePair.heapIndex = -1;
        TransportQueuePair last = at(--size);
        heap[size] = null;
        if (last != queuePair) {
            up(last, i);
            down(last, last.heapIndex);
        }
    }

    /** The earliest deadline, {@link #NEVER} if there is none. */
    long first() {
        return size == 0 ? NEVER : at(0).heapTime;
    }

    /** Removes and returns the queue pair with the earliest deadline if that has passed. */
    @Nullable
    TransportQueuePair takeDue(long now) {
        if (size == 0 || at(0).heapTime > now) {
            return null;
        }
        TransportQueuePair first = at(0);
        remove(first);
        return first;
    }

    private TransportQueuePair at(int i) {
        return Objects.requireNonNull(heap[i]);
    }

    private void up(TransportQueuePair q, int from) {
        int i = from;
        while (i > 0 && at((i - 1) / 2).heapTime > q.heapTime) {
            place(at((i - 1) / 2), i);
            i = (i - 1) / 2;
        }
        place(q, i);
    }

    private void down(TransportQueuePair q, int from) {
        int i = from;
        while (true) {
            int child = 2 * i + 1;
            if (child >= size) {
                break;
            }
            if (child + 1 < size && at(child + 1).heapTime < at(child).heapTime) {
                child++;
            }
            if (at(child).heapTime >= q.heapTime) {
                break;
            }
            place(at(child), i);
            i = child;
        }
        place(q, i);
    }

    private void place(TransportQueuePair q, int i) {
        heap[i] = q;
        q.heapIndex = i;
    }
}
