// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

/** Limits of the transport. */
public final class Limits {
    /** The longest message, bytes (IBTA volume 1, 9.7.2). */
    public static final long MAX_MESSAGE = 1L << 31;
    /** Reads and atomics that a queue pair may have outstanding, in either direction. */
    public static final int MAX_READ_ATOMIC = 128;

    private Limits() {}
}
