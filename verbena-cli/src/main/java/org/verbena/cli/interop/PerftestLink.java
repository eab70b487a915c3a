// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.io.IOException;

/** What carries the exchange between the two ends of perftest: TCP, or a connection of the connection manager. */
interface PerftestLink extends AutoCloseable {
    /** Sends bytes to the peer, and returns its bytes, which have the same length. The client sends first. */
    byte[] exchange(byte[] own) throws IOException;

    /** Sends an address and returns that of the peer, in the form that this link uses. */
    PerftestAddress exchange(PerftestAddress own) throws IOException;

    /**
     * Tells that all is done, if the test ends that way, and waits until the peer does not need this end any more.
     *
     * @param agreed whether the ends have already told each other that they are done
     */
    void end(boolean agreed) throws IOException;

    @Override
    void close() throws IOException;
}
