package org.verbena.tests.conformance;

import java.io.Serializable;

import org.verbena.verbs.AddressVector;
import org.verbena.verbs.Gid;

/** What an end tells its peer: how to reach its queue pair and its memory. */
record EndAddress(String gid, int queuePairNumber, int psn, int rkey, long address, long length)
        implements
            Serializable {
    AddressVector vector() {
        return AddressVector.to(Gid.parse(gid));
    }
}
