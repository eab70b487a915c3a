// SPDX-License-Identifier: Apache-2.0
package org.verbena.tests.conformance;

import java.io.Serializable;

import org.jspecify.annotations.Nullable;

import org.verbena.verbs.AddressVector;
import org.verbena.verbs.Gid;

/** The address that an end sends to its peer: how to reach its queue pair and its memory. */
record EndAddress(String gid, int queuePairNumber, int psn, int rkey, long address, long length, @Nullable Xrc xrc)
        implements
            Serializable {
    /** The target of XRC requests: a queue pair and a shared receive queue. */
    record Xrc(int target, int srq) implements Serializable {}

    EndAddress(String gid, int queuePairNumber, int psn, int rkey, long address, long length) {
        this(gid, queuePairNumber, psn, rkey, address, length, null);
    }

    /** The queue pair that requests of the peer are sent to. */
    int destination() {
        return xrc == null ? queuePairNumber : xrc.target();
    }

    AddressVector vector() {
        return AddressVector.to(Gid.parse(gid));
    }
}
