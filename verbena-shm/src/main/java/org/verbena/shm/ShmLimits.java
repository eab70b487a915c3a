// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm;

/** Limits of the device {@code shm0} that do not follow from the layout of its memory files. */
final class ShmLimits {
    /** Reads and atomics outstanding, either way. */
    static final int MAX_READS = 128;
    static final int MAX_WR = 16384;
    static final int MAX_SGE = 16;
    static final int MAX_INLINE = 1024;
    /** The longest datagram. */
    static final int MTU = 4096;
    static final long MAX_DEVICE_MEMORY = 64L << 20;
    static final int MAX_SRQ = 1024;
    static final long MAX_MESSAGE = 1L << 31;

    private ShmLimits() {}
}
