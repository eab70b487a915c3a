package org.verbena.shm;

import java.lang.foreign.MemorySegment;

import org.verbena.linux.Errno;
import org.verbena.linux.spi.RawMemory;

/**
 * The send work requests of a queue pair, in arrays by slot: what {@link ShmSendQueue} stages and
 * {@link SendExecutor} carries out. Fields of a slot are written before its number is published.
 */
final class WorkQueue {
    final int mask;
    final int maxSge;
    final int maxInline;

    final long[] wrIds;
    final int[] opcodes;
    final int[] flags;
    final int[] rkeys;
    final int[] immediates;
    final long[] remoteAddresses;
    final long[] compares;
    final long[] swaps;
    final int[] sgeCounts;
    final long[] totals;
    final long[] sgeAddresses;
    final long[] sgeLengths;
    final int[] sgeKeys;
    /** Address of the inline buffers, one of {@link #maxInline} bytes a slot. */
    private final long inlineBuffers;

    WorkQueue(int entries, int maxSge, int maxInline, long inlineBuffers) {
        this.mask = entries - 1;
        this.maxSge = maxSge;
        this.maxInline = maxInline;
        this.inlineBuffers = inlineBuffers;
        wrIds = new long[entries];
        opcodes = new int[entries];
        flags = new int[entries];
        rkeys = new int[entries];
        immediates = new int[entries];
        remoteAddresses = new long[entries];
        compares = new long[entries];
        swaps = new long[entries];
        sgeCounts = new int[entries];
        totals = new long[entries];
        sgeAddresses = new long[entries * maxSge];
        sgeLengths = new long[entries * maxSge];
        sgeKeys = new int[entries * maxSge];
    }

    /** Fills a slot with an operation that has no buffers yet. */
    void set(int i, int opcode, long wrId, int sendFlags, int rkey, long remoteAddress, int immediate) {
        wrIds[i] = wrId;
        opcodes[i] = opcode;
        flags[i] = sendFlags;
        rkeys[i] = rkey;
        remoteAddresses[i] = remoteAddress;
        immediates[i] = immediate;
        sgeCounts[i] = 0;
        totals[i] = 0;
    }

    /** Adds a buffer; answers 0 or an errno. */
    int addSge(int i, int lkey, long address, long length) {
        int n = sgeCounts[i];
        if (n == maxSge || length < 0) {
            return Errno.EINVAL;
        }
        int at = i * maxSge + n;
        sgeAddresses[at] = address;
        sgeLengths[at] = length;
        sgeKeys[at] = lkey;
        sgeCounts[i] = n + 1;
        totals[i] += length;
        // two lengths near 2^63 would wrap
        return totals[i] < 0 ? Errno.EINVAL : 0;
    }

    /** Takes inline data; answers 0 or an errno. */
    int setInline(int i, MemorySegment data, long offset, long length) {
        if (length < 0 || length > maxInline || offset < 0 || offset > data.byteSize() - length || sgeCounts[i] != 0
                || totals[i] != 0) {
            return Errno.EINVAL;
        }
        try {
            MemorySegment.copy(data, offset, RawMemory.segment(inlineBuffer(i), maxInline), 0, length);
        } catch (IllegalStateException | WrongThreadException e) {
            return Errno.EFAULT;
        }
        totals[i] = length;
        return 0;
    }

    long inlineBuffer(int i) {
        return inlineBuffers + (long) i * maxInline;
    }
}
