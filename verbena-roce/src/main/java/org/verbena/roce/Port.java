// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import org.verbena.roce.link.WireCounts;
import org.verbena.roce.transport.Wire;
import org.verbena.verbs.Gid;
import org.verbena.verbs.GidEntry;
import org.verbena.verbs.PortAttributes;
import org.verbena.verbs.VerbsException;

/** The one port of a context: the wire, and what is known of the network interface that it leads to. */
interface Port extends AutoCloseable {
    /** What packets go by; used under the context's lock. */
    Wire wire();

    /** What it has counted; used under the context's lock. */
    WireCounts counts();

    /** State and limits now. */
    PortAttributes attributes() throws VerbsException;

    /**
     * An entry of the GID table.
     *
     * @param index less than {@link PortAttributes#gidTableLength()}; an entry that is not in use has a GID of zeros
     */
    GidEntry gid(int index) throws VerbsException;

    /** True for a GID of the table. */
    boolean has(long gidHigh, long gidLow);

    /** Packets to a multicast group are received from now on. */
    void join(Gid group) throws VerbsException;

    /** Undoes {@link #join}. */
    void leave(Gid group) throws VerbsException;

    /** No packets any more. */
    @Override
    void close();
}
