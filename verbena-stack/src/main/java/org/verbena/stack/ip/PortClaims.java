// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.io.IOException;

/** The ports of a host whose addresses others on it have, too. For one thread at a time. */
public interface PortClaims {
    /** Of a host that has its addresses for itself. */
    PortClaims NONE = new PortClaims() {
        @Override
        public boolean claim(int protocol, int port, long high, long low) {
            return true;
        }

        @Override
        public void claimAgain(int protocol, int port) {}

        @Override
        public void release(int protocol, int port) {}
    };

    /**
     * Takes a port, which nobody else on this host gets until it was {@linkplain #release released} as often.
     *
     * @param protocol as IP has it
     * @param high of the address where packets are to come from now on, with {@code low}; both 0 for all of this host's
     * @return false if somebody else has it
     * @throws IOException if it cannot be had for another reason
     */
    boolean claim(int protocol, int port, long high, long low) throws IOException;

    /** Takes a port that is taken already once more. */
    void claimAgain(int protocol, int port);

    /** Gives a port back. */
    void release(int protocol, int port);
}
