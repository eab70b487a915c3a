// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

/**
 * A posted receive: an object of a {@link ReceiveSource}, reused for each request. The transport writes the result into
 * it and returns it by {@link QueuePairOwner#received}; afterwards its source may use it again.
 */
public class ReceiveWqe {
    /** Set by the application. */
    public long wrId;
    /** Number of elements. */
    public int sgeCount;
    /** Elements: keys. */
    public final int[] lkeys;
    /** Elements: addresses of the first bytes. */
    public final long[] addresses;
    /** Elements: bytes. */
    public final long[] lengths;

    /** Result: {@link org.verbena.verbs.WcStatus}. */
    public int status;
    /** Result: {@link org.verbena.verbs.WcOpcode#RECV} or {@code RECV_RDMA_WITH_IMM}. */
    public int opcode;
    /** Result: bytes received, including the 40 of the GRH; of a write, the bytes written. */
    public long byteLength;
    /** Result: immediate value as a number, or the key that was invalidated; see {@link #wcFlags}. */
    public int immediate;
    /** Result: {@link org.verbena.verbs.WcFlags}. */
    public int wcFlags;
    /** Result: the sender's queue pair number; UD only, else that of the connected peer. */
    public int sourceQueuePair;
    /** Result: the sender asked for an event, or the receive failed. */
    public boolean solicited;

    /** For implementations of {@link ReceiveSource}. */
    public ReceiveWqe(int maxSge) {
        lkeys = new int[maxSge];
        addresses = new long[maxSge];
        lengths = new long[maxSge];
    }

    /** Adds an element; the caller has checked that there is room. */
    public void addSge(int lkey, long address, long bytes) {
        int n = sgeCount++;
        lkeys[n] = lkey;
        addresses[n] = address;
        lengths[n] = bytes;
    }
}
