// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.cm;

/** Time-outs of connection management: 4.096 µs times 2^code (IBTA volume 1, 12.7.21). Stateless. */
public final class CmTimes {
    /** How soon an answer is due on either side, 0.54 s: what is lost is repeated then. */
    public static final int RESPONSE = 17;
    /** How long a side that thinks asks the other one to wait, 4.3 s; longer by another receipt. */
    static final int SERVICE = 20;
    /** How soon an end is repeated that is not answered, 50 ms; then after twice as long each time, up to {@link #responseNanos}. */
    static final long DREQ_TIMEOUT = 50_000_000L;
    /** How often a message is repeated at most, which a REQ says in four bits: the end for 13 s in all. */
    public static final int RETRIES = 15;
    /** How long an ended connection answers late messages. */
    static final long TIME_WAIT = 5_000_000_000L;

    private static final long UNIT = 4_096;
    /** Twice the life of a packet, which comes on top of what the peer may take: code 16 of 0.27 s. */
    private static final long PACKET_LIFETIMES = 2 * (UNIT << 16);
    /** A peer may ask for hours. */
    private static final int MAX_CODE = 24;

    private CmTimes() {}

    /** Nanoseconds of a code, at most a minute. */
    static long nanos(int code) {
        return UNIT << Math.min(code, MAX_CODE);
    }

    /** Nanoseconds until an answer must have come. */
    static long responseNanos(int code) {
        return nanos(code) + PACKET_LIFETIMES;
    }
}
