// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.header;

/** Extended header of XRC requests, 4 bytes: the shared receive queue (annex A14, 14.4). */
public final class XrcEth {
    public static final int BYTES = 4;

    private XrcEth() {}

    public static int sharedReceiveQueue(long a) {
        return BigEndian.get24(a);
    }

    public static void put(long a, int sharedReceiveQueue) {
        BigEndian.putInt(a, sharedReceiveQueue & Psn.MASK);
    }
}
