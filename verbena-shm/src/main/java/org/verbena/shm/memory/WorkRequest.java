// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.memory;

import java.lang.foreign.MemorySegment;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.linux.spi.RawMemory;
import org.verbena.verbs.AddressHandle;
import org.verbena.verbs.SendFlags;
import org.verbena.verbs.spi.SendOpcode;

/**
 * A send work request: one slot of a send queue, filled when it is posted, and carried out later.
 * All fields are written before the slot's number is published. The first buffer, as a rule the only one, has fields of
 * its own.
 */
public final class WorkRequest {
    /** Beside the application's flags: inline data are complete, no further buffer may follow. */
    private static final int INLINE_GIVEN = 1 << 8;
    /** In the bits above: how many buffers inline data were taken from. */
    private static final int INLINE_BUFFER = 1 << 16;
    /** In place of a number of buffers. */
    private static final int NO_BUFFERS = -1;

    private final int maxSge;
    private final int maxInline;
    /** Address of the slot's inline buffer. */
    public final long inlineBuffer;

    public long wrId;
    public int opcode;
    int flags;
    public int rkey;
    public int immediate;
    public long remoteAddress;
    public long compare;
    public long swap;
    /** The destination of a datagram; its queue pair's number is {@link #remoteAddress}, its Q_Key {@link #rkey}. */
    @Nullable public AddressHandle destination;
    /** Number of the destination's shared receive queue, with XRC. */
    public int sharedReceiveQueue;
    /** Bytes of all buffers. */
    public long total;

    /** The window to bind, and its region; for that operation alone, and only until it is executed. */
    @Nullable public Window window;
    @Nullable public Region region;

    public int sgeCount;
    private int lkey;
    private long address;
    private long length;
    private final int[] moreKeys;
    private final long[] moreAddresses;
    private final long[] moreLengths;

    public WorkRequest(int maxSge, int maxInline, long inlineBuffer) {
        this.maxSge = maxSge;
        this.maxInline = maxInline;
        this.inlineBuffer = inlineBuffer;
        int more = Math.max(0, maxSge - 1);
        moreKeys = new int[more];
        moreAddresses = new long[more];
        moreLengths = new long[more];
    }

    /** Starts a request that has no buffers yet. */
    public void set(int op, long id, int sendFlags, int key, long remote, int imm) {
        wrId = id;
        opcode = op;
        flags = sendFlags;
        rkey = key;
        remoteAddress = remote;
        immediate = imm;
        sgeCount = 0;
        total = 0;
    }

    /** Takes no buffers from now on. */
    public void takeNoBuffers() {
        sgeCount = NO_BUFFERS;
    }

    /** The operation is complete as it is: counts no buffers when it is carried out. */
    private boolean isClosed() {
        return sgeCount == NO_BUFFERS;
    }

    public boolean isInline() {
        return (flags & SendFlags.INLINE) != 0;
    }

    public boolean isSignaled() {
        return (flags & SendFlags.SIGNALED) != 0;
    }

    public boolean isSolicited() {
        return (flags & SendFlags.SOLICITED) != 0;
    }

    public int lkey(int i) {
        return i == 0 ? lkey : moreKeys[i - 1];
    }

    public long address(int i) {
        return i == 0 ? address : moreAddresses[i - 1];
    }

    public long length(int i) {
        return i == 0 ? length : moreLengths[i - 1];
    }

    /** Adds a buffer; returns 0 or an errno. */
    public int addSge(int key, long at, long bytes, KeyTable keys, int pd) {
        if (sgeCount == 0 && maxSge > 0 && bytes >= 0 && !isInline()) {
            lkey = key;
            address = at;
            length = bytes;
            total = bytes;
            sgeCount = 1;
            return 0;
        }
        return addFurther(key, at, bytes, keys, pd);
    }

    private int addFurther(int key, long at, long bytes, KeyTable keys, int pd) {
        if (isClosed()) {
            return Errno.EINVAL;
        }
        if (isInline()) {
            return takeInline(key, at, bytes, keys, pd);
        }
        if (sgeCount == maxSge || bytes < 0 || total + bytes < 0) {
            return Errno.EINVAL;
        }
        moreKeys[sgeCount - 1] = key;
        moreAddresses[sgeCount - 1] = at;
        moreLengths[sgeCount - 1] = bytes;
        sgeCount++;
        total += bytes;
        return 0;
    }

    /** The flag INLINE with a registered buffer: takes the data now. */
    private int takeInline(int key, long at, long bytes, KeyTable keys, int pd) {
        if ((flags & INLINE_GIVEN) != 0 || flags / INLINE_BUFFER >= maxSge || bytes < 0
                || bytes > maxInline - total) {
            return Errno.EINVAL;
        }
        Region r = keys.find(key, pd, at, bytes, 0);
        if (r == null || !r.copyOut(at, inlineBuffer + total, bytes)) {
            return Errno.EINVAL;
        }
        flags += INLINE_BUFFER;
        total += bytes;
        return 0;
    }

    /** Takes inline data; returns 0 or an errno. */
    public int setInline(MemorySegment data, long offset, long bytes) {
        if (bytes < 0 || bytes > maxInline || offset < 0 || offset > data.byteSize() - bytes || sgeCount != 0
                || total != 0
                || (flags & INLINE_GIVEN) != 0 || !SendOpcode.takesInline(opcode)) {
            return Errno.EINVAL;
        }
        try {
            RawMemory.copyOut(data, offset, inlineBuffer, bytes);
        } catch (IllegalStateException | WrongThreadException | InternalError e) { // closed, foreign, or cut off
            return Errno.EFAULT;
        }
        flags |= SendFlags.INLINE | INLINE_GIVEN;
        total = bytes;
        return 0;
    }
}
