// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.packet;

/**
 * The hash by which receive-side scaling spreads packets, as Microsoft has defined it: each bit of the input that is 1 adds
 * the 32 bits of the key that begin at its place. Stateless.
 */
public final class Toeplitz {
    private Toeplitz() {}

    /**
     * The hash of some bytes of a packet.
     *
     * @param key 4 bytes more than the input, or longer
     */
    public static int hash(byte[] key, byte[] input) {
        int hash = 0;
        for (int i = 0; i < input.length; i++) {
            for (int bit = 0; bit < 8; bit++) {
                if ((input[i] & 0x80 >> bit) != 0) {
                    hash ^= window(key, 8 * i + bit);
                }
            }
        }
        return hash;
    }

    /**
     * What the upper or lower four bits of a byte of the input add to the hash.
     *
     * @param at which byte of the input
     * @param upper which of both
     * @param value 0 to 15
     */
    public static int ofNibble(byte[] key, int at, boolean upper, int value) {
        int hash = 0;
        for (int bit = 0; bit < 4; bit++) {
            if ((value & 8 >> bit) != 0) {
                hash ^= window(key, 8 * at + (upper ? 0 : 4) + bit);
            }
        }
        return hash;
    }

    /** 32 bits of the key, from that one on. */
    private static int window(byte[] key, int bit) {
        long five = 0;
        for (int i = 0; i < 5; i++) {
            int at = bit / 8 + i;
            five = five << 8 | (at < key.length ? key[at] & 0xff : 0);
        }
        return (int) (five >>> 8 - bit % 8);
    }
}
