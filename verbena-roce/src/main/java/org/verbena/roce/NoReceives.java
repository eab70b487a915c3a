// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import org.verbena.linux.Errno;
import org.verbena.verbs.ReceiveQueue;

/** The receive side of a queue pair that has no receives of its own: what is posted is refused. */
final class NoReceives extends ReceiveQueue {
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
}
