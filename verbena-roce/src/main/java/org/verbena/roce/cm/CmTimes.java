// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.cm;

/** Time-outs of connection management: 4.096 µs times 2^code (IBTA volume 1, 12.7.21). Stateless. */
public final class CmTimes {
    /** How long either side may take to reply, 0.54 s: lost messages are retransmitted then. */
    public static final int RESPONSE = 17;
    /** How long an MRA asks the other side to wait, 4.3 s; another MRA extends it. */
    static final int SERVICE = 20;
    /**
     * When an unanswered DREQ is retransmitted first, 50 ms; then after twice as long each time, up to
     * {@link #responseNanos}.
     */
    static final long DREQ_TIMEOUT = 50_000_000L;
    /** The most retransmissions of a message, four bits in a REQ: a DREQ for 13 s in all. */
    public static final int RETRIES = 15;
    /** How long an ended connection replies to late messages. */
    static final long TIME_WAIT = 5_000_000_000L;

    private static final long UNIT = 4_096;
    /** Twice the lifetime of a packet, in addition to the time that the peer may take: code 16 of 0.27 s. */
    private static final long PACKET_LIFETIMES = 2 * (UNIT << 16);
    /** A peer may request hours. */
    private static final int MAX_CODE = 24;

    private CmTimes() {}

    /** Nanoseconds of a code, at most a minute. */
    static long nanos(int code) {
        return UNIT << Math.min(code, MAX_CODE);
    }

    /** Nanoseconds until a reply must have arrived. */
    static long responseNanos(int code) {
        return nanos(code) + PACKET_LIFETIMES;
    }
}
