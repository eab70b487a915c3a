// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.io.IOException;

/** What carries that which the two ends of perftest tell each other: TCP, or a connection of the connection manager. */
interface PerftestLink extends AutoCloseable {
    /** Tells the peer something, and brings back what it tells, which is as long. The client speaks first. */
    byte[] exchange(byte[] own) throws IOException;

    /** Tells an address and brings back the peer's, in the form that goes by this link. */
    PerftestAddress exchange(PerftestAddress own) throws IOException;

    /**
     * Says that all is done, if the test ends so, and waits until the peer does not need this end any more.
     *
     * @param agreed whether the ends have told each other that they are done
     */
    void end(boolean agreed) throws IOException;

    @Override
    void close() throws IOException;
}
