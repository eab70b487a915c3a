// SPDX-License-Identifier: Apache-2.0
package org.verbena.verbs;

import java.util.List;

/**
 * An address handle, {@code struct ibv_ah}: where datagrams of a queue pair of type UD go, see
 * {@link SendQueue#datagram}. It may be closed when all work requests that name it have completed. Safe for use by
 * several threads.
 */
public abstract class AddressHandle extends VerbsObject {
    private final ProtectionDomain pd;
    private final AddressVector vector;

    /** For providers. */
    protected AddressHandle(ProtectionDomain pd, AddressVector vector) throws VerbsException {
        super(List.of(pd));
        this.pd = pd;
        this.vector = vector;
    }

    /** The protection domain; only queue pairs of the same one may use the handle. */
    public final ProtectionDomain protectionDomain() {
        return pd;
    }

    /** The path that the handle was created for. */
    public final AddressVector vector() {
        return vector;
    }
}
