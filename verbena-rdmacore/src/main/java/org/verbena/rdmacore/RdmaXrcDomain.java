// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import java.lang.foreign.Arena;
import java.util.List;

import org.verbena.verbs.QueuePair;
import org.verbena.verbs.QueuePairInitAttributes;
import org.verbena.verbs.QueuePairOpenAttributes;
import org.verbena.verbs.VerbsException;
import org.verbena.verbs.XrcDomain;
import org.verbena.verbs.XrcDomainAttributes;

/** An XRC domain, {@code struct ibv_xrcd}. */
final class RdmaXrcDomain extends XrcDomain {
    private final Handle handle;

    private RdmaXrcDomain(Handle handle) throws VerbsException {
        super(handle.context);
        this.handle = handle;
        opened();
    }

    static XrcDomain open(RdmaContext context, XrcDomainAttributes a) throws VerbsException {
        NativeContext verbs = context.verbs();
        String verb = "open XRC domain on " + context.describe();
        try (Arena arena = Arena.ofConfined()) {
            Struct s = new Struct(arena, Layout.XRCD_INIT_BYTES);
            s.putInt(0, a.compMask());
            s.putInt(Layout.XRCD_INIT_FD, a.fd());
            s.putInt(Layout.XRCD_INIT_OFLAGS, a.openFlags());
            return Handle.create(verb, context, List.of(context), Handle.by(context, Slot.CLOSE_XRCD), () -> Calls
                    .pointer(verb, verbs.slot(verb, Slot.OPEN_XRCD), verbs.address, s.address()), RdmaXrcDomain::new);
        }
    }

    RdmaContext rdmaContext() {
        return handle.context;
    }

    long address() {
        return handle.address;
    }

    @Override
    protected QueuePair implCreateQueuePair(QueuePairInitAttributes attributes) throws VerbsException {
        return QueuePairCreation.createTarget(this, attributes);
    }

    @Override
    protected QueuePair implOpenQueuePair(QueuePairOpenAttributes attributes) throws VerbsException {
        return QueuePairCreation.openTarget(this, attributes);
    }

    @Override
    public String describe() {
        return "XRC domain of " + handle.context.describe();
    }

    @Override
    protected void implClose() throws VerbsException {
        handle.destroy(this);
    }
}
