// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

/** What carries one direction of a {@link RingStream}; it changes once. */
enum Phase {
    /** TCP, and nobody knows yet whether for ever. */
    UNDECIDED,
    /** TCP, for ever. */
    TCP,
    /** The ring. TCP carries doorbells. */
    RING
}
