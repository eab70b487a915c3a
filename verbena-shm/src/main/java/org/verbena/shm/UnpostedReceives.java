// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import org.verbena.linux.Errno;
import org.verbena.verbs.ReceiveQueue;

/** The receive side of a queue pair that has no receives of its own: posts are refused. */
abstract class UnpostedReceives extends ReceiveSide {
    @Override
    public final ReceiveQueue start() {
        return this;
    }

    @Override
    public final ReceiveQueue receive(long wrId) {
        return this;
    }

    @Override
    public final ReceiveQueue sge(int lkey, long address, long length) {
        return this;
    }

    @Override
    public final int complete() {
        return Errno.EINVAL;
    }
}
