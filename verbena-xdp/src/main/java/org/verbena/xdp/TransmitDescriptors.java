// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import org.verbena.linux.XskRing;

/**
 * The descriptors of a queue pair that the kernel has to send, by their number, and the chunks that frames are copied to.
 * Under the lock of the send side.
 */
final class TransmitDescriptors {
    /** By number: the address, or -1 when the kernel has given it back; the chunk of ours that is free then, or -1. */
    private final long[] addresses;
    private final int[] chunks;
    private final int mask;
    private long first;
    private long next;
    /** Chunks of ours that are free. */
    private final int[] free;
    private int freeCount;

    /** So many chunks, and descriptors for all of them. */
    TransmitDescriptors(int chunkCount) {
        free = new int[chunkCount];
        int descriptors = SendSide.ringSize(chunkCount);
        mask = descriptors - 1;
        addresses = new long[descriptors];
        chunks = new int[descriptors];
    }

    /** Descriptors that fit, a power of two. */
    int capacity() {
        return mask + 1;
    }

    /** Chunks of ours. */
    int chunkCount() {
        return free.length;
    }

    /** All chunks are free, the first of which is that one. */
    void start(int firstChunk) {
        freeCount = 0;
        for (int i = free.length - 1; i >= 0; i--) {
            free[freeCount++] = firstChunk + i;
        }
    }

    /** The number of the last descriptor. */
    long last() {
        return next - 1;
    }

    /** Whether the kernel has given back all up to that number. */
    boolean isDone(long number) {
        return number < first;
    }

    /** Adds a descriptor; {@code chunk} is one that was taken, or -1. */
    void add(long address, int chunk) {
        int i = (int) next & mask;
        addresses[i] = address;
        chunks[i] = chunk;
        next++;
    }

    int freeCount() {
        return freeCount;
    }

    /** The free chunk that is taken after {@code n} others. */
    int peek(int n) {
        return free[freeCount - 1 - n];
    }

    /** Takes a free chunk. */
    int take() {
        return free[--freeCount];
    }

    /** Looks what the kernel has given back. */
    void reap(XskRing ready) {
        int n = ready.available();
        for (int i = 0; i < n; i++) {
            givenBack(ready.address(i));
        }
        if (n > 0) {
            ready.release(n);
        }
        while (first < next && addresses[(int) first & mask] < 0) {
            first++;
        }
    }

    /** The kernel gives descriptors back in their order, but for those that took another way. */
    private void givenBack(long address) {
        for (long d = first; d < next; d++) {
            int i = (int) d & mask;
            if (addresses[i] == address) {
                addresses[i] = -1;
                if (chunks[i] >= 0) {
                    free[freeCount++] = chunks[i];
                }
                return;
            }
        }
    }
}
