// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.spi.SendOpcode;

/**
 * A send work request: an entry of a {@link SendRing}, made once and reused for each request. The poster writes the
 * public fields before it posts, and never afterwards.
 */
public final class SendWqe {
    /** Set by the application. */
    public long wrId;
    /** One of {@link SendOpcode}. */
    public int opcode;
    /** {@link org.verbena.verbs.SendFlags}; SIGNALED is set for all if the queue pair signals all. */
    public int flags;
    /** Immediate value as a number in native byte order; for SEND_INVALIDATE the peer's key. */
    public int immediate;
    /** The peer's key; for LOCAL_INVALIDATE and BIND_WINDOW the local one. */
    public int rkey;
    /** Address at the peer; for BIND_WINDOW the first byte of the window. */
    public long remoteAddress;
    /** COMPARE_AND_SWAP: the expected value. FETCH_AND_ADD: the addend. ATOMIC_WRITE: the value. */
    public long compareOrAdd;
    /** COMPARE_AND_SWAP: the new value. */
    public long swap;
    /** UD: the path to the destination. */
    public @Nullable Path path;
    /** UD: the destination's queue pair number. */
    public int remoteQueuePair;
    /** UD: the destination's Q_Key. */
    public int remoteQkey;
    /** XRC_SEND: the shared receive queue at the peer. */
    public int remoteSharedReceiveQueue;
    /** FLUSH: bytes at the peer. */
    public long flushLength;
    /** FLUSH: {@link org.verbena.verbs.FlushType} bits. */
    public int flushType;
    /** FLUSH: {@code FlushType.RANGE} or {@code REGION}. */
    public int flushLevel;
    /** BIND_WINDOW: an object for {@link Memory#bind}. */
    public @Nullable Object window;
    /** BIND_WINDOW: an object for {@link Memory#bind}. */
    public @Nullable Object windowRegion;
    /** BIND_WINDOW: bytes. */
    public long windowLength;
    /** BIND_WINDOW: remote rights. */
    public int windowAccess;

    /** Bytes of inline data with {@link org.verbena.verbs.SendFlags#INLINE}, at {@link #inlineAddress}. */
    public int inlineLength;
    /** The entry's own memory for inline data; never changes. */
    public final long inlineAddress;
    /** Number of elements, 0 with inline data. */
    public int sgeCount;
    /** Elements: keys. */
    public final int[] lkeys;
    /** Elements: addresses of the first bytes. */
    public final long[] addresses;
    /** Elements: bytes. */
    public final long[] lengths;

    /** Result: {@link org.verbena.verbs.WcStatus}, valid in {@link QueuePairOwner#sent}. */
    public int status;
    /** Result: bytes of the message. */
    public long byteLength;

    // ---- set by the transport

    /** Bytes of the message. */
    long length;
    /** The first packet's sequence number, of which the PSN is the lower 24 bits. */
    long first;
    /** Packets that the request uses, of a READ those of its response; 0 if it is executed locally. */
    int packets;
    /** READ: response packets that have arrived. */
    int received;
    /** Completes with a response of its own, not with an ACK. */
    boolean expectsResponse;
    /** Has failed locally, with {@link #status}; completes when it is the oldest. */
    boolean failed;

    SendWqe(int maxSge, long inlineAddress) {
        this.inlineAddress = inlineAddress;
        lkeys = new int[maxSge];
        addresses = new long[maxSge];
        lengths = new long[maxSge];
    }

    /** Resets the entry for a new request: no buffers, no flags. */
    public SendWqe begin(long id, int op, int sendFlags) {
        wrId = id;
        opcode = op;
        flags = sendFlags;
        inlineLength = 0;
        sgeCount = 0;
        path = null;
        remoteSharedReceiveQueue = 0;
        failed = false;
        return this;
    }

    /** What is known locally to be wrong with a request that the peer has refused, after ": "; else empty. */
    String knownFault() {
        return switch (opcode) {
            case SendOpcode.CMP_SWP, SendOpcode.FETCH_ADD, SendOpcode.ATOMIC_WRITE ->
                (remoteAddress & 7) == 0
                        ? ""
                        : ": remote address 0x" + Long.toHexString(remoteAddress)
                                + " is not aligned to 8 bytes, as an atomic needs it";
            default -> "";
        };
    }

    /** Adds an element; the caller has checked that there is room. */
    public void addSge(int lkey, long address, long bytes) {
        int n = sgeCount++;
        lkeys[n] = lkey;
        addresses[n] = address;
        lengths[n] = bytes;
    }

    /** Appends to the inline data; the caller has checked that they fit. False if the memory may not be read. */
    public boolean addInline(Memory memory, int lkey, long address, int bytes) {
        if (memory.copyOut(lkey, address, inlineAddress + inlineLength, bytes) < 0) {
            return false;
        }
        inlineLength += bytes;
        return true;
    }
}
