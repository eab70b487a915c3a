// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.spi;

import org.verbena.linux.Errno;
import org.verbena.verbs.ReceiveQueue;

/** The receive side of queue pairs that have no receives of their own: what is posted is refused. */
public final class NoReceives extends ReceiveQueue {
    /** For providers. */
    public NoReceives() {}

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
