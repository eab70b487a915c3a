// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.header;

/** ACK extended transport header, 4 bytes: syndrome, message sequence number (IBTA volume 1, 9.3.5 and 9.7.5.1). */
public final class Aeth {
    public static final int BYTES = 4;

    /** An ACK that limits no credits. */
    public static final int ACK = 0x1f;
    /** Receiver not ready; the lower 5 bits are the timer's code. */
    public static final int RNR_NAK = 0x20;
    public static final int NAK_SEQUENCE = 0x60;
    public static final int NAK_INVALID_REQUEST = 0x61;
    public static final int NAK_REMOTE_ACCESS = 0x62;
    public static final int NAK_REMOTE_OPERATION = 0x63;

    private static final int KIND = 0xe0;
    private static final int VALUE = 0x1f;

    /** The values of the timer's codes, in units of 10 µs. */
    private static final int[] RNR_TIMER = {65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384,
        512,
        768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};

    private Aeth() {}

    public static int syndrome(long a) {
        return BigEndian.getByte(a);
    }

    static int msn(long a) {
        return BigEndian.get24(a);
    }

    public static void put(long a, int syndrome, int msn) {
        BigEndian.putInt(a, syndrome << 24 | msn & Psn.MASK);
    }

    /** Any count of credits. */
    public static boolean isAck(int syndrome) {
        return (syndrome & KIND) == 0;
    }

    public static boolean isRnr(int syndrome) {
        return (syndrome & KIND) == RNR_NAK;
    }

    /** Nanoseconds to wait after an RNR NAK. */
    public static long rnrNanos(int syndrome) {
        return RNR_TIMER[syndrome & VALUE] * 10_000L;
    }
}
