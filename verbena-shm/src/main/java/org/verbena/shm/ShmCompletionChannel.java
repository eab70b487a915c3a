// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.shm.ring.PeerBells;
import org.verbena.verbs.Context;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.BellChannel;
import org.verbena.verbs.spi.Engine;

/** A completion channel, whose doorbell peers ring too. */
final class ShmCompletionChannel extends BellChannel {
    private final Engine engine;

    ShmCompletionChannel(Context context, long instance, Engine engine, int id) throws VerbsException {
        super(context, id, PeerBells.name(instance, id));
        this.engine = engine;
    }

    @Override
    protected void watchOnce(Fd descriptor, boolean first, Runnable action) throws LinuxException {
        engine.watchOnce(descriptor, first, action);
    }

    @Override
    protected void forget(Fd descriptor) {
        engine.forget(descriptor);
    }
}
