// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.shm.ring.PeerBells;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.BellChannel;

/** A completion channel, whose doorbell peers ring too. */
final class ShmCompletionChannel extends BellChannel {
    private final ShmContext context;

    ShmCompletionChannel(ShmContext context, int id) throws VerbsException {
        super(context, id, PeerBells.name(context.instance(), id));
        this.context = context;
    }

    @Override
    protected void watchOnce(Fd descriptor, boolean first, Runnable action) throws LinuxException {
        context.engine().watchOnce(descriptor, first, action);
    }

    @Override
    protected void forget(Fd descriptor) {
        context.engine().forget(descriptor);
    }
}
