// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** What IP carries. */
public interface Protocol {
    /** A datagram has come. */
    void received(Datagram d, long now) throws IOException;

    /**
     * A packet that this host had sent did not arrive, as an ICMP error says. Anybody can have sent that.
     *
     * @param errno what a socket would be told; {@code EMSGSIZE} for a packet that was too long, 0 for one that did arrive: then nothing but the answer matters
     * @param mtu with {@code EMSGSIZE}, how long the packet may have been
     * @param path the ends of that packet, until this returns
     * @param m memory of the error
     * @param at where the first {@link org.verbena.stack.header.IcmpMessage#QUOTED} bytes of the payload of that packet are
     * @return whether that packet may have been of a socket that is open
     */
    boolean failed(int errno, int mtu, Path path, MemorySegment m, long at, long now) throws IOException;
}
