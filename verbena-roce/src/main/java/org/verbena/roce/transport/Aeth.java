package org.verbena.roce.transport;

/** ACK extended transport header, 4 bytes: syndrome, message sequence number (IBTA volume 1, 9.3.5 and 9.7.5.1). */
final class Aeth {
    static final int BYTES = 4;

    /** An ACK that limits no credits. */
    static final int ACK = 0x1f;
    /** The receiver is not ready; the lower 5 bits are the timer's code. */
    static final int RNR_NAK = 0x20;
    static final int NAK_SEQUENCE = 0x60;
    static final int NAK_INVALID_REQUEST = 0x61;
    static final int NAK_REMOTE_ACCESS = 0x62;
    static final int NAK_REMOTE_OPERATION = 0x63;

    private static final int KIND = 0xe0;
    private static final int VALUE = 0x1f;

    /** What the codes of the timer mean, in units of 10 µs. */
    private static final int[] RNR_TIMER = {65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384,
        512,
        768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};

    private Aeth() {}

    static int syndrome(long a) {
        return BigEndian.getByte(a);
    }

    static int msn(long a) {
        return BigEndian.get24(a);
    }

    static void put(long a, int syndrome, int msn) {
        BigEndian.putInt(a, syndrome << 24 | msn & Psn.MASK);
    }

    /** Any count of credits. */
    static boolean isAck(int syndrome) {
        return (syndrome & KIND) == 0;
    }

    static boolean isRnr(int syndrome) {
        return (syndrome & KIND) == RNR_NAK;
    }

    /** Nanoseconds that an RNR NAK asks to wait. */
    static long rnrNanos(int syndrome) {
        return RNR_TIMER[syndrome & VALUE] * 10_000L;
    }
}
