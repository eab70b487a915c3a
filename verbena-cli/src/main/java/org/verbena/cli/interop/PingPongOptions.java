// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.interop;

import java.time.Duration;

/**
 * What to exchange, and how.
 *
 * @param device name of the verbs device
 * @param ibPort port of the device
 * @param size bytes of a message
 * @param mtu path MTU in bytes
 * @param rxDepth receives to post at a time; 0 for the default
 * @param iterations messages in each direction, of all queue pairs together
 * @param serviceLevel 0 to 15
 * @param events sleep instead of spinning
 * @param gidIndex index of the local GID; {@link #ANY_GID} to choose one
 * @param queuePairs 1 except for {@link PingPongType#SRQ}
 * @param check verify the contents of all messages
 * @param timeout how long the peer may be silent
 */
record PingPongOptions(PingPongType type, String device, int ibPort, int size, int mtu, int rxDepth, int iterations,
        int serviceLevel, boolean events, int gidIndex, int queuePairs, boolean check, Duration timeout) {
    static final int ANY_GID = -1;
}
