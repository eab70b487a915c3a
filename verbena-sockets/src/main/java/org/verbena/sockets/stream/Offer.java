// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

/**
 * Where one end of a connection may be written to.
 *
 * @param index its number in its session
 * @param blockKey key and
 * @param blockAddress address of its control block
 * @param ringKey key,
 * @param ringAddress address and
 * @param ringSize size of its first ring, a power of two
 * @param headerAddress address and
 * @param headerKey key of the header of its session; 0 of a version without it
 */
record Offer(int index, int blockKey, long blockAddress, int ringKey, long ringAddress, int ringSize,
        long headerAddress,
        int headerKey) {
    /** Whether the numbers can be meant; the provider checks keys and addresses. */
    boolean isSane() {
        return index >= 0 && isRingSize(ringSize) && (blockAddress & Long.BYTES - 1) == 0;
    }

    /**
     * Whether it is of the other end of a session: of two processes that have lost one, one may not have noticed yet, and
     * name connections of the old one.
     */
    boolean isOfPeer(Session session) {
        return headerAddress == 0 || headerAddress == session.peerHeader() && headerKey == session.peerHeaderKey();
    }

    static boolean isRingSize(int size) {
        return Integer.bitCount(size) == 1 && size >= 1024 && size <= 1 << 30;
    }
}
