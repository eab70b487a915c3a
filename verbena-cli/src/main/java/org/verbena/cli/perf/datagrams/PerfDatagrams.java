// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.perf.datagrams;

import java.io.IOException;

/**
 * One end of messages that can be lost, each of the size of the test: datagrams of the kernel's UDP, or raw packets. For one
 * thread; nothing waits, nothing allocates.
 */
public interface PerfDatagrams extends AutoCloseable {
    /** How many messages the peer has room for. */
    int underWay();

    /** Sends a message with this first byte; false if there is no room, and it is to be sent again. */
    boolean send(byte mark) throws IOException;

    /** Sends a message as small as can be to a peer that only sends; false if there is no room. */
    boolean sendCredit() throws IOException;

    /** Takes the next message; false if there is none. */
    boolean receive() throws IOException;

    /** The first byte of the message that was taken last. */
    byte mark();

    @Override
    void close() throws IOException;
}
