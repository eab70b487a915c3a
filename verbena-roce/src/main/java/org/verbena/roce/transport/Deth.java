package org.verbena.roce.transport;

/** Datagram extended transport header, 8 bytes: queue key, sender (IBTA volume 1, 9.3.2). */
final class Deth {
    static final int BYTES = 8;

    private Deth() {}

    static int qkey(long a) {
        return BigEndian.getInt(a);
    }

    static int source(long a) {
        return BigEndian.get24(a + 4);
    }

    static void put(long a, int qkey, int source) {
        BigEndian.putInt(a, qkey);
        BigEndian.putInt(a + 4, source);
    }
}
