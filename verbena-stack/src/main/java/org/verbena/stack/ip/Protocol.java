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
     * @param m memory of the error
     * @param at where the first {@link org.verbena.stack.header.IcmpMessage#QUOTED} bytes of the payload of that packet are
     * @param destination where that packet was to go
     */
    void failed(int type, int code, MemorySegment m, long at, int destination);
}
