// SPDX-License-Identifier: Apache-2.0
package org.verbena.erm;

import org.verbena.sockets.spi.PeerRendezvous;

/**
 * The private data with which the ends of a connection connect their queue pairs: 40 bytes each way, big-endian. Drawn in
 * docs/erm.md, too.
 *
 * <pre>
 *  0  int    {@link PeerRendezvous#MAGIC}
 *  4  byte   version, {@link Handshake#VERSION}
 *  5  byte   queue pair: {@link Handshake#COPIES} or {@link Handshake#CONTROL}
 *  6  short  features: bit 0 {@link Handshake#UPDATES}; unknown ones are not used
 *  8  long   token of the end that was accepted
 * 16  long   token of the end that connected
 * 24  int    initial credits for the remote completions of copies; 28 of asynchronous copies
 * 32  int    limit of regions that the sender accepts; 36 int 0
 * </pre>
 */
final class HandshakeLayout {
    static final int MAGIC = 0;
    static final int VERSION = 4;
    static final int QUEUE_PAIR = 5;
    static final int FEATURES = 6;
    static final int ACCEPTOR_TOKEN = 8;
    static final int CONNECTOR_TOKEN = 16;
    static final int CREDITS = 24;
    static final int ASYNC_CREDITS = 28;
    static final int REGIONS = 32;
    static final int RESERVED = 36;
    static final int BYTES = 40;

    private HandshakeLayout() {}
}
