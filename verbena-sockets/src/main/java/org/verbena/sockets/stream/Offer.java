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
 */
record Offer(int index, int blockKey, long blockAddress, int ringKey, long ringAddress, int ringSize) {
    /** Whether the numbers can be meant; the provider checks keys and addresses. */
    boolean isSane() {
        return index >= 0 && isRingSize(ringSize);
    }

    static boolean isRingSize(int size) {
        return Integer.bitCount(size) == 1 && size >= 1024 && size <= 1 << 30;
    }
}
