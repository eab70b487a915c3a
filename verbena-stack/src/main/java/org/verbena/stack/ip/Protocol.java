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
     * @param word the bytes 4 to 7 of the error; the MTU of the next link is the low 16 bits (RFC 1191, 4)
     * @param m memory of the error
     * @param at where the first {@link org.verbena.stack.header.IcmpMessage#QUOTED} bytes of the payload of that packet are
     * @param destination where that packet was to go
     */
    void failed(int type, int code, int word, MemorySegment m, long at, int destination, long now)
            throws IOException;
}
