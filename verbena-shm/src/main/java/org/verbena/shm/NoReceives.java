package org.verbena.shm;

import org.verbena.linux.Errno;
import org.verbena.verbs.ReceiveQueue;

/** The receive side of queue pairs that have none: what is posted is refused. */
final class NoReceives extends ReceiveSide {
    @Override
    public ReceiveQueue start() {
        return this;
    }

    @Override
    public ReceiveQueue receive(long wrId) {
        return this;
    }

    @Override
    public ReceiveQueue sge(int lkey, long address, long length) {
        return this;
    }

    @Override
    public int complete() {
        return Errno.EINVAL;
    }

    @Override
    boolean poll(ShmCompletionQueue cq) {
        return false;
    }

    @Override
    long completions() {
        return 0;
    }

    @Override
    long completionsWaiting() {
        return 0;
    }

    @Override
    void connect(long peerDirectoryEntry) {}

    @Override
    void reset() {}
}
