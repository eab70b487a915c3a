// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

/** How the sockets of processes are shown. */
enum StatSocketView {
    /** The traffic of each. */
    BASIC,
    /** The same, with the bytes waiting in its rings. */
    QUEUE,
    /** All attributes of each. */
    FULL,
    /** Addresses and states, like netstat(8). */
    NETSTAT,
    /** A line for each connection with what matters most, which fits the width of a terminal. */
    SOCKETS
}
