// SPDX-License-Identifier: Apache-2.0
package org.verbena.cli.stat;

/** How the sockets of processes are shown. */
enum StatSocketView {
    /** What each has carried. */
    BASIC,
    /** The same, with what waits in its rings. */
    QUEUE,
    /** All there is to say of each. */
    FULL,
    /** Addresses and states, as netstat(8). */
    NETSTAT
}
