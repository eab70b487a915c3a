// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The ring of a queue pair's send requests: filled by the thread that posts, without the lock, and read under the lock
 * once they are posted. An entry is free again when its request has been polled, or is unsignalled and done.
 */
final class SendRequests {
    final long[] wrIds;
    final int[] flags;
    final int[] statuses;
    final int[] lengths;
    /** The number of the last descriptor of a request; it is done when that is. */
    final long[] lastDescriptors;
    final int[] sgeCounts;
    /** Bytes of inline data, or -1. */
    final int[] inlineLengths;
    /** Bytes of payload in a segment; 0 for one frame. */
    final int[] segments;
    /** Bytes of the headers of a send that is cut into segments. */
    final int[] headerLengths;
    private final int[] keys;
    private final long[] addresses;
    private final int[] sgeLengths;
    private final MemorySegment inline;
    private final int maxSge;
    private final int maxInline;
    private final int maxHeader;
    private final int mask;

    SendRequests(int depth, int maxSge, int maxInline, int maxHeader) {
        int slots = Math.max(1, Integer.highestOneBit(Math.max(1, 2 * depth - 1)));
        mask = slots - 1;
        this.maxSge = maxSge;
        this.maxInline = maxInline;
        this.maxHeader = maxHeader;
        wrIds = new long[slots];
        flags = new int[slots];
        statuses = new int[slots];
        lengths = new int[slots];
        lastDescriptors = new long[slots];
        sgeCounts = new int[slots];
        inlineLengths = new int[slots];
        segments = new int[slots];
        headerLengths = new int[slots];
        keys = new int[slots * maxSge];
        addresses = new long[slots * maxSge];
        sgeLengths = new int[slots * maxSge];
        inline = Arena.ofAuto().allocate(Math.max(1, (long) slots * (maxInline + maxHeader)), 64);
    }

    int slot(long request) {
        return (int) request & mask;
    }

    void begin(int slot, long wrId, int flag) {
        wrIds[slot] = wrId;
        flags[slot] = flag;
        sgeCounts[slot] = 0;
        segments[slot] = 0;
        inlineLengths[slot] = -1;
    }

    /** Adds a buffer; there are less than {@code maxSge}. */
    void addSge(int slot, int key, long address, int length) {
        int i = slot * maxSge + sgeCounts[slot]++;
        keys[i] = key;
        addresses[i] = address;
        sgeLengths[i] = length;
    }

    int key(int slot, int i) {
        return keys[slot * maxSge + i];
    }

    long address(int slot, int i) {
        return addresses[slot * maxSge + i];
    }

    int length(int slot, int i) {
        return sgeLengths[slot * maxSge + i];
    }

    /** The memory of all inline data and headers. */
    MemorySegment inlineMemory() {
        return inline;
    }

    /** Where those of a request begin. */
    long inlineAt(int slot) {
        return (long) slot * (maxInline + maxHeader);
    }

    /** Where the headers of a send begin that is cut into segments. */
    long headerAt(int slot) {
        return inlineAt(slot) + maxInline;
    }
}
