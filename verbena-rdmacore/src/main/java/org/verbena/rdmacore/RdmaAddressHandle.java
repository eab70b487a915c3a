// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import org.verbena.verbs.AddressHandle;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.ProtectionDomain;
import org.verbena.verbs.VerbsException;

/** An address handle, {@code struct ibv_ah}. */
final class RdmaAddressHandle extends AddressHandle {
    private final Handle handle;

    RdmaAddressHandle(ProtectionDomain pd, Handle handle, AddressVector path) throws VerbsException {
        super(pd, path);
        this.handle = handle;
        opened();
    }

    long nativeAddress() {
        return handle.address;
    }

    @Override
    public String describe() {
        return "AH to " + vector().destination() + " of " + handle.context.describe();
    }

    @Override
    protected void implClose() throws VerbsException {
        handle.context.awaitPosts("close " + describe());
        handle.destroy(this);
    }
}
