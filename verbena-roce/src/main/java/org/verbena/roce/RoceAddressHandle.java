// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import org.verbena.roce.transport.Path;
import org.verbena.verbs.AddressHandle;
import org.verbena.verbs.AddressVector;
import org.verbena.verbs.VerbsException;

/** An address handle: a path of the wire. */
final class RoceAddressHandle extends AddressHandle {
    private final RoceContext context;
    private final Path path;
    private final int pd;

    RoceAddressHandle(RoceContext context, RoceProtectionDomain pd, AddressVector vector, Path path)
            throws VerbsException {
        super(pd, vector);
        this.context = context;
        this.path = path;
        this.pd = pd.index();
        opened();
    }

    Path path() {
        return path;
    }

    boolean isOf(RoceContext c, int domain) {
        return c == context && pd == domain && !isClosed();
    }

    @Override
    public String describe() {
        return "AH to " + vector().destination() + " of " + context.describe();
    }

    @Override
    protected void implClose() {
        ContextLock lock = context.lock();
        lock.lock();
        path.close();
        lock.unlock();
    }
}
