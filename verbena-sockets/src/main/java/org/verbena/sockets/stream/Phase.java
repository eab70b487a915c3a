// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

/** What carries one direction of a {@link RingStream}; it changes once. */
enum Phase {
    /** TCP, as long as it is undecided. */
    UNDECIDED,
    /** TCP, to the end of the connection. */
    TCP,
    /** The ring. TCP carries doorbells. */
    RING
}
