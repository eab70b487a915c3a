// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/**
 * By what the ends of a TCP connection on two hosts name it: its addresses and ports.
 *
 * @param client of the end that connected
 * @param server of the end that was accepted
 */
record ConnectionName(InetSocketAddress client, InetSocketAddress server) {
    /**
     * An address in 32 bits: the exclusive or of its words, which for IPv4 is the address. The whole one is the GID of the
     * same message.
     */
    static int fold(InetAddress address) {
        ByteBuffer words = ByteBuffer.wrap(address.getAddress());
        int all = 0;
        while (words.hasRemaining()) {
            all ^= words.getInt();
        }
        return all;
    }
}
