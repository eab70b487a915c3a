// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.nio.channels.SocketChannel;

import org.verbena.sockets.telemetry.StreamEvents;

/** Whether a connection gets rings: when its handshake is to begin, and why TCP carries it. For any thread. */
final class CarrierDecision {
    private final SocketChannel tcp;
    private final RingThreshold threshold;
    private volatile FallbackReason reason;
    private volatile boolean finallyTcp;

    /** @param earns whether the handshake begins when TCP has carried enough, rather than when the caller says so */
    CarrierDecision(SocketChannel tcp, boolean earns) {
        this.tcp = tcp;
        threshold = new RingThreshold(earns);
        reason = earns ? FallbackReason.NOT_EARNED : FallbackReason.NONE;
        StreamCounters.count(reason);
    }

    /** Whether the handshake waits for TCP to carry more. */
    boolean isEarning() {
        return threshold.isWaiting();
    }

    /** Why TCP carries it; the other end may still come if it was not there in time. */
    FallbackReason reason() {
        return reason;
    }

    /** As {@link Stream#fallbackReason}. */
    String sentence() {
        FallbackReason why = reason;
        return why == FallbackReason.NONE || why == FallbackReason.NOT_EARNED ? "" : why.toString();
    }

    /** There will be no rings. */
    boolean isFinallyTcp() {
        return finallyTcp;
    }

    /**
     * TCP has brought bytes for the program.
     *
     * @param bytes that TCP has carried, both ways
     * @return whether a handshake is due
     */
    boolean received(long bytes) {
        threshold.received();
        return threshold.isReached(bytes);
    }

    /** TCP has taken bytes of the program; as {@link #received}. */
    boolean sent(long bytes) {
        threshold.sent();
        return threshold.isReached(bytes);
    }

    /** Whether the caller is to begin a handshake. */
    boolean begin() {
        if (!threshold.begin()) {
            return false;
        }
        if (reason == FallbackReason.NOT_EARNED) { // else it stays what it was unless the handshake succeeds
            change(FallbackReason.NONE);
        }
        return true;
    }

    /** The handshake is complete. */
    void succeed() {
        change(FallbackReason.NONE);
    }

    /** Prevents a handshake that has not begun; whether none has. */
    boolean prevent() {
        return threshold.end();
    }

    /**
     * The handshake has failed, or there will be none.
     *
     * @param mayContinue whether the other end may come later if it was not there
     * @param bytes that TCP has carried, both ways
     * @return whether that is final
     */
    boolean fail(FallbackReason why, boolean mayContinue, long bytes) {
        boolean stillPlain = reason == FallbackReason.PLAIN_PEER && why == FallbackReason.CLOSED_EARLY; // in a later attempt
        if (reason != why && !stillPlain) {
            change(why);
            StreamEvents.byTcp(tcp, why.key());
        }
        if (mayContinue && why == FallbackReason.PLAIN_PEER && threshold.continueAfter(bytes)) {
            return false; // the other end may have counted differently
        }
        finallyTcp = true;
        return true;
    }

    /** The connection is closed. */
    void close() {
        if (reason == FallbackReason.NOT_EARNED) {
            StreamEvents.byTcp(tcp, reason.key());
        }
    }

    private void change(FallbackReason why) {
        StreamCounters.uncount(reason);
        reason = why;
        StreamCounters.count(why);
    }
}
