// SPDX-License-Identifier: Apache-2.0
package org.verbena.linux;

/**
 * The sizes of an AF_XDP socket: what libxdp has in {@code struct xsk_umem_config} and {@code struct xsk_socket_config}.
 * Immutable. Lengths of rings are powers of two from 1 to 65536, in entries.
 *
 * @param chunkBytes the length of a chunk of the memory: a power of two from 2048 to the page size
 * @param headroom bytes that the kernel leaves free before each received packet, beside its own
 *        {@link Xsk#XDP_PACKET_HEADROOM}
 * @param fillEntries length of the FILL ring
 * @param completionEntries length of the COMPLETION ring
 * @param receiveEntries length of the RX ring
 * @param transmitEntries length of the TX ring
 * @param txMetadataBytes 0, or {@link XskMetadata#BYTES}: space before each packet to send, for requests about it
 */
public record XskConfig(int chunkBytes, int headroom, int fillEntries, int completionEntries, int receiveEntries,
        int transmitEntries, int txMetadataBytes) {
    static final int MIN_CHUNK = 2048;
    static final int MAX_ENTRIES = 1 << 16;

    /** Checks the values. */
    public XskConfig {
        Args.requireBetween(chunkBytes, MIN_CHUNK, Sys.pageSize(), "the length of a chunk");
        requirePowerOfTwo(chunkBytes, "the length of a chunk");
        for (int entries : new int[] {fillEntries, completionEntries, receiveEntries, transmitEntries}) {
            Args.requireBetween(entries, 1, MAX_ENTRIES, "the length of a ring");
            requirePowerOfTwo(entries, "the length of a ring");
        }
        Args.requireBetween(headroom, 0, chunkBytes - Xsk.XDP_PACKET_HEADROOM - 1, "the headroom");
        if (txMetadataBytes != 0 && txMetadataBytes != XskMetadata.BYTES) {
            throw new IllegalArgumentException("metadata take 0 or " + XskMetadata.BYTES + " bytes, not "
                    + txMetadataBytes);
        }
    }

    private static void requirePowerOfTwo(int number, String what) {
        if (Integer.bitCount(number) != 1) {
            throw new IllegalArgumentException(what + " is a power of two, not " + number);
        }
    }

    /** Rings of one length, without headroom and metadata. */
    public static XskConfig of(int chunkBytes, int entries) {
        return new XskConfig(chunkBytes, 0, entries, entries, entries, entries, 0);
    }

    /** The same with another headroom. */
    public XskConfig withHeadroom(int bytes) {
        return new XskConfig(chunkBytes, bytes, fillEntries, completionEntries, receiveEntries, transmitEntries,
                txMetadataBytes);
    }

    /** The same with space for metadata of packets to send; needs Linux 6.8. */
    public XskConfig withTxMetadata() {
        return new XskConfig(chunkBytes, headroom, fillEntries, completionEntries, receiveEntries, transmitEntries,
                XskMetadata.BYTES);
    }

    /** The same with other lengths of the rings. */
    public XskConfig withRings(int fill, int completion, int receive, int transmit) {
        return new XskConfig(chunkBytes, headroom, fill, completion, receive, transmit, txMetadataBytes);
    }
}
