// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import org.verbena.roce.link.WireCounts;
import org.verbena.roce.transport.Wire;
import org.verbena.verbs.Gid;
import org.verbena.verbs.GidEntry;
import org.verbena.verbs.PortAttributes;
import org.verbena.verbs.VerbsException;

/** The one port of a context: the wire, and the properties of its network interface. */
interface Port extends AutoCloseable {
    /** Carries the packets; used under the context's lock. */
    Wire wire();

    /** Its counts; used under the context's lock. */
    WireCounts counts();

    /** The current state and limits. */
    PortAttributes attributes() throws VerbsException;

    /**
     * An entry of the GID table.
     *
     * @param index less than {@link PortAttributes#gidTableLength()}; an unused entry has a GID of zeros
     */
    GidEntry gid(int index) throws VerbsException;

    /** True if a GID is in the table. */
    boolean has(long gidHigh, long gidLow);

    /** Receives packets to a multicast group from now on. */
    void join(Gid group) throws VerbsException;

    /** Undoes {@link #join}. */
    void leave(Gid group) throws VerbsException;

    /** Closes it: no packets are received or sent any more. */
    @Override
    void close();
}
