// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.layout;

/** Name and limits of the device {@code shm0}, as far as they do not follow from the layout of its memory files. */
public final class ShmLimits {
    /** The name of the device. */
    public static final String DEVICE = "shm0";

    /** Reads and atomics outstanding, either way. */
    public static final int MAX_READS = 128;
    public static final int MAX_WR = 16384;
    public static final int MAX_SGE = 16;
    public static final int MAX_INLINE = 1024;
    /** The longest datagram. */
    public static final int MTU = 4096;
    public static final long MAX_DEVICE_MEMORY = 64L << 20;
    public static final int MAX_SRQ = 1024;
    public static final long MAX_MESSAGE = 1L << 31;

    private ShmLimits() {}
}
