// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.layout;

import org.verbena.linux.spi.RawMemory;

/** The scatter/gather elements of a posted receive, which lie behind its header, see {@link AdapterLayout}. */
public final class Wqe {
    private Wqe() {}

    private static long element(long wqe, int n) {
        return wqe + AdapterLayout.WQE_HEADER + AdapterLayout.WQE_SGE * n;
    }

    /** True for a valid length of an element. */
    public static boolean isLength(long length) {
        return length >= 0 && length <= ShmLimits.MAX_MESSAGE;
    }

    public static void putElement(long wqe, int n, int lkey, long address, long length) {
        long a = element(wqe, n);
        RawMemory.putLong(a, address);
        RawMemory.putLong(a + 8, lkey & 0xffffffffL | length << 32);
    }

    public static long address(long wqe, int n) {
        return RawMemory.getLong(element(wqe, n));
    }

    /** The length in the upper half, the key in the lower. */
    public static long keyAndLength(long wqe, int n) {
        return RawMemory.getLong(element(wqe, n) + 8);
    }
}
