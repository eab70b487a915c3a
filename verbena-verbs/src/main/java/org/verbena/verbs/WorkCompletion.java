// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

/**
 * A work completion, {@code struct ibv_wc}: a reusable holder that {@link CompletionQueue#poll(WorkCompletion[])}
 * fills. On an error only {@link #wrId()}, {@link #status()}, {@link #queuePairNumber()} and {@link #vendorError()} are
 * valid. Not safe for use by several threads.
 */
public final class WorkCompletion {
    private long wrId;
    private int status;
    private int opcode;
    private int vendorError;
    private long byteLength;
    private int immediate;
    private int queuePairNumber;
    private int sourceQueuePair;
    private int flags;
    private int invalidatedRkey;

    /** An empty holder. */
    public WorkCompletion() {}

    /** An array of empty holders. */
    public static WorkCompletion[] array(int length) {
        WorkCompletion[] a = new WorkCompletion[length];
        for (int i = 0; i < length; i++) {
            a[i] = new WorkCompletion();
        }
        return a;
    }

    void set(CompletionQueue cq) {
        wrId = cq.wrId();
        status = cq.status();
        opcode = cq.opcode();
        vendorError = cq.vendorError();
        byteLength = cq.byteLength();
        immediate = cq.immediate();
        queuePairNumber = cq.queuePairNumber();
        sourceQueuePair = cq.sourceQueuePair();
        flags = cq.flags();
        invalidatedRkey = cq.invalidatedRkey();
    }

    /** The number that the application gave to the work request. */
    public long wrId() {
        return wrId;
    }

    /** See {@link WcStatus}. */
    public int status() {
        return status;
    }

    /** See {@link WcOpcode}. */
    public int opcode() {
        return opcode;
    }

    /** The provider's own error number; shm gives an errno. */
    public int vendorError() {
        return vendorError;
    }

    /** Bytes received or read. */
    public long byteLength() {
        return byteLength;
    }

    /** The immediate value, if {@link #flags()} has {@link WcFlags#WITH_IMM}. */
    public int immediate() {
        return immediate;
    }

    /** The key that the message invalidated, if {@link #flags()} has {@link WcFlags#WITH_INV}. */
    public int invalidatedRkey() {
        return invalidatedRkey;
    }

    /** The local queue pair. */
    public int queuePairNumber() {
        return queuePairNumber;
    }

    /** The queue pair that sent the message. */
    public int sourceQueuePair() {
        return sourceQueuePair;
    }

    /** See {@link WcFlags}. */
    public int flags() {
        return flags;
    }

    @Override
    public String toString() {
        return WcOpcode.toString(opcode) + " wrId=" + wrId + " " + WcStatus.toString(status) + " length=" + byteLength
                + " qp=0x" + Integer.toHexString(queuePairNumber);
    }
}
