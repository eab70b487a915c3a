// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs.spi;

import java.lang.foreign.MemorySegment;

import org.verbena.linux.Errno;
import org.verbena.verbs.SendQueue;

/** The send side of queue pairs that have none: what is posted is refused. */
public final class NoSends extends SendQueue {
    /** For providers. */
    public NoSends() {}

    @Override
    public SendQueue start() {
        return this;
    }

    @Override
    public SendQueue send(long wrId, int flags) {
        return this;
    }

    @Override
    public SendQueue sendImmediate(long wrId, int flags, int immediate) {
        return this;
    }

    @Override
    public SendQueue write(long wrId, int flags, int rkey, long remoteAddress) {
        return this;
    }

    @Override
    public SendQueue writeImmediate(long wrId, int flags, int rkey, long remoteAddress, int immediate) {
        return this;
    }

    @Override
    public SendQueue read(long wrId, int flags, int rkey, long remoteAddress) {
        return this;
    }

    @Override
    public SendQueue compareAndSwap(long wrId, int flags, int rkey, long remoteAddress, long compare, long swap) {
        return this;
    }

    @Override
    public SendQueue fetchAndAdd(long wrId, int flags, int rkey, long remoteAddress, long add) {
        return this;
    }

    @Override
    public SendQueue sge(int lkey, long address, long length) {
        return this;
    }

    @Override
    public SendQueue inline(MemorySegment data, long offset, long length) {
        return this;
    }

    @Override
    public int complete() {
        return Errno.EINVAL;
    }

    @Override
    public void abort() {}

    @Override
    protected SendQueue unsupported() {
        return this;
    }
}
