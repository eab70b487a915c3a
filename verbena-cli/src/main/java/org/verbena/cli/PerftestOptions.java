package org.verbena.cli;

import java.time.Duration;

/**
 * What to measure, and how.
 *
 * @param device name of the verbs device
 * @param ibPort port of the device
 * @param size bytes of a message
 * @param mtu path MTU in bytes; 0 for that of the port
 * @param iterations messages of the one who measures; of tests in turn, of both
 * @param txDepth requests outstanding
 * @param retryTimeout how long to wait for an ACK, 4.096 µs · 2^this
 * @param events sleep instead of spinning
 * @param gidIndex of the own GID; {@link PingPongOptions#ANY_GID} to choose one
 * @param timeout how long the peer may be silent
 */
record PerftestOptions(PerftestType type, String device, int ibPort, int size, int mtu, int iterations, int txDepth,
        int retryTimeout, boolean events, int gidIndex, Duration timeout) {}
