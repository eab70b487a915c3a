// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp;

import org.verbena.linux.Fd;
import org.verbena.linux.LinuxException;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.spi.BellChannel;

/** A completion channel. */
final class XdpCompletionChannel extends BellChannel {
    private final XdpContext context;

    XdpCompletionChannel(XdpContext context, int id) throws VerbsException {
        super(context, id, "verbena-bell/" + Long.toHexString(context.instance()) + "/" + id);
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
