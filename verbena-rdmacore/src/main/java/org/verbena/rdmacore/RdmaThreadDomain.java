// SPDX-License-Identifier: Apache-2.0
package org.verbena.rdmacore;

import org.verbena.verbs.ThreadDomain;
import org.verbena.verbs.VerbsException;

/** A thread domain, {@code struct ibv_td}. */
final class RdmaThreadDomain extends ThreadDomain {
    private final Handle handle;

    RdmaThreadDomain(Handle handle) throws VerbsException {
        super(handle.context);
        this.handle = handle;
        opened();
    }

    long address() {
        return handle.address;
    }

    @Override
    public String describe() {
        return "thread domain of " + handle.context.describe();
    }

    @Override
    protected void implClose() throws VerbsException {
        handle.destroy(this);
    }
}
