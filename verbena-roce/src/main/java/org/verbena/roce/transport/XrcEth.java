package org.verbena.roce.transport;

/** Extended header of XRC requests, 4 bytes: the shared receive queue (annex A14, 14.4). */
final class XrcEth {
    static final int BYTES = 4;

    private XrcEth() {}

    static int sharedReceiveQueue(long a) {
        return BigEndian.get24(a);
    }

    static void put(long a, int sharedReceiveQueue) {
        BigEndian.putInt(a, sharedReceiveQueue & Psn.MASK);
    }
}
