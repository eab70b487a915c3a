// SPDX-License-Identifier: Apache-2.0
package org.example.devnull;

import org.verbena.linux.Errno;
import org.verbena.verbs.CompletionQueue;
import org.verbena.verbs.CompletionQueueAttributes;
import org.verbena.verbs.Context;
import org.verbena.verbs.VerbsException;

/** A ring of completions. All its arrays are made at creation: the data path allocates nothing. */
final class NullCompletionQueue extends CompletionQueue {
    private final long[] wrIds;
    private final long[] lengths;
    private final int[] words; // status, opcode, queue pair
    private int head;
    private int count;

    NullCompletionQueue(Context context, CompletionQueueAttributes attributes) throws VerbsException {
        super(context, attributes);
        wrIds = new long[attributes.cqe()];
        lengths = new long[attributes.cqe()];
        words = new int[3 * attributes.cqe()];
        opened();
    }

    /** Adds a completion; false if there is no room. Queue pairs and poller may be different threads. */
    synchronized boolean add(long wrId, int status, int opcode, long length, int queuePair) {
        if (count == wrIds.length) {
            return false;
        }
        int i = (head + count++) % wrIds.length;
        wrIds[i] = wrId;
        lengths[i] = length;
        words[3 * i] = status;
        words[3 * i + 1] = opcode;
        words[3 * i + 2] = queuePair;
        return true;
    }

    private synchronized boolean isEmpty(int beside) {
        return count <= beside;
    }

    private synchronized void drop() {
        head = (head + 1) % wrIds.length;
        count--;
    }

    @Override
    public int cqe() {
        return wrIds.length;
    }

    @Override
    public int startPoll() {
        return isClosed() ? Errno.EINVAL : isEmpty(0) ? Errno.ENOENT : 0;
    }

    @Override
    public int nextPoll() {
        if (isEmpty(1)) {
            return Errno.ENOENT;
        }
        drop();
        return 0;
    }

    @Override
    public void endPoll() {
        drop();
    }

    @Override
    public long wrId() {
        return wrIds[head];
    }

    @Override
    public int status() {
        return words[3 * head];
    }

    @Override
    public int opcode() {
        return words[3 * head + 1];
    }

    @Override
    public int vendorError() {
        return 0;
    }

    @Override
    public long byteLength() {
        return lengths[head];
    }

    @Override
    public int immediate() {
        return 0;
    }

    @Override
    public int queuePairNumber() {
        return words[3 * head + 2];
    }

    @Override
    public int flags() {
        return 0;
    }

    @Override
    public int requestNotify(boolean solicitedOnly) {
        return Errno.EINVAL;
    }

    @Override
    public String describe() {
        return "CQ of null0";
    }

    @Override
    protected void implClose() {}
}
