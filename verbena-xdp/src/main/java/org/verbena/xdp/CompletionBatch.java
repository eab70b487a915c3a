// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import org.jspecify.annotations.Nullable;

/**
 * Completions that were taken out of the kernel's rings at once, and that the poller goes through. One thread at a time,
 * which is the one that polls.
 */
final class CompletionBatch {
    static final int SIZE = 64;

    private final long[] wrIds = new long[SIZE];
    /** Status in bits 0-7, opcode in 8-23, the queue pair's number in the upper half. */
    private final long[] words = new long[SIZE];
    private final int[] flags = new int[SIZE];
    private final int[] bytes = new int[SIZE];
    private final int[] generations = new int[SIZE];
    private final @Nullable Source[] sources = new @Nullable Source[SIZE];
    private int count;
    private int current = -1;

    /** Entries that can be added. */
    int room() {
        return SIZE - count;
    }

    int size() {
        return count;
    }

    boolean isFull() {
        return count == SIZE;
    }

    void add(Source source, long wrId, int status, int opcode, int queuePair, int flag, int length) {
        int i = count++;
        sources[i] = source;
        generations[i] = source.generation();
        wrIds[i] = wrId;
        words[i] = (long) queuePair << Integer.SIZE | (long) opcode << 8 | status;
        flags[i] = flag;
        bytes[i] = length;
    }

    /** Moves on; false at the end. */
    boolean next() {
        while (++current < count) {
            Source s = sources[current];
            if (s != null && s.generation() == generations[current]) {
                return true;
            }
        }
        return false;
    }

    /** Makes room for the next completions. */
    void clear() {
        count = 0;
        current = -1;
    }

    private int at() {
        return Math.max(0, Math.min(current, SIZE - 1));
    }

    long wrId() {
        return wrIds[at()];
    }

    int status() {
        return (int) words[at()] & 0xff;
    }

    int opcode() {
        return (int) (words[at()] >>> 8) & 0xffff;
    }

    int queuePair() {
        return (int) (words[at()] >>> Integer.SIZE);
    }

    int flags() {
        return flags[at()];
    }

    int bytes() {
        return bytes[at()];
    }
}
