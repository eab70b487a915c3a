// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.link;

/**
 * Finds the identification of an IPv4 packet from its invariant CRC. The field is part of the CRC, and a UDP socket
 * does not report it.
 *
 * <p>The CRC is affine: the difference between the CRC on the wire and the one that was computed with an identification
 * of zero depends on the identification and on the bytes behind it only. Each byte behind it multiplies by x^8 modulo
 * the polynomial, which can be undone: what is left must be a number of 16 bits in a word of 32, and is the
 * identification. If the upper 16 bits are not zero, no identification explains the CRC, and the packet is damaged. So
 * of the 32 bits 16 still check, and all 32 where the sender is known to send zero.
 *
 * <p>Immutable and thread-safe; allocates nothing once it is made.
 */
final class Identification {
    /** Result of {@link #solve} if there is none. */
    static final int NONE = -1;

    /** The polynomial of Ethernet, its lowest power in the highest bit. */
    private static final int POLYNOMIAL = 0xEDB8_8320;
    private static final int ONE = 0x8000_0000;
    /** Bytes from the identification to the end of the IP header (16) and of UDP (8). */
    private static final int BEFORE_PACKET = 24;

    /** x^-8 to the power of the index. */
    private final int[] inverse;

    /**
     * For packets up to a length.
     *
     * @param maxPacket bytes from the base transport header to the CRC, without it
     */
    Identification(int maxPacket) {
        inverse = new int[BEFORE_PACKET + maxPacket + 1];
        int power = ONE;
        for (int i = 0; i < inverse.length; i++) {
            inverse[i] = power;
            for (int bit = 0; bit < 8; bit++) {
                power = divideByX(power);
            }
        }
    }

    /**
     * The identification that explains a CRC.
     *
     * @param difference exclusive or of the CRC on the wire and the one that was computed with zero
     * @param length bytes of the packet without its CRC, at most what this was made for
     * @return 0 to 65535, or {@link #NONE}
     */
    int solve(int difference, int length) {
        if (difference == 0) {
            return 0;
        }
        int field = multiply(inverse[BEFORE_PACKET + length], difference);
        if (field >>> 16 != 0) {
            return NONE;
        }
        return (field & 0xFF) << 8 | field >>> 8; // its first byte, the higher one, is the lowest of the word
    }

    /** A product of polynomials modulo that of the CRC, bit by bit without branches. */
    private static int multiply(int a, int b) {
        int product = 0;
        int power = b;
        for (int i = 31; i >= 0; i--) {
            product ^= power & -(a >>> i & 1);
            power = power >>> 1 ^ POLYNOMIAL & -(power & 1);
        }
        return product;
    }

    /** The polynomial that {@code power} is x times. */
    private static int divideByX(int power) {
        // times x is: shift to the right, and the polynomial if a one fell out; the polynomial's highest bit is set
        return power < 0 ? (power ^ POLYNOMIAL) << 1 | 1 : power << 1;
    }
}
