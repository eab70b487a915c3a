// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

/**
 * Decides whether the ACKs of a reliable queue pair may be delayed for long. They may where both sides take turns:
 * requests of our own leave between those that arrive, so the peer waits for these and not for its completions. A peer
 * that did wait for the ACK falls silent until it arrives; the next long delay is then tried after twice as many turns.
 */
final class AckDelay {
    /**
     * An ACK covers at most this many packets: half of the smallest window, so that no peer runs into the window's end.
     */
    private static final int PACKETS = CongestionWindow.MIN / 2;
    private static final int FEWEST_TURNS = 8;
    private static final int MOST_TURNS = 1024;

    /** Packets since the last ACK. */
    private int packets;
    /** Packets in a row before each of which a request of our own was sent. */
    private int turns;
    private int turnsNeeded = FEWEST_TURNS;
    private boolean requestPosted;

    void clear() {
        packets = 0;
        turns = 0;
        turnsNeeded = FEWEST_TURNS;
        requestPosted = false;
    }

    /** A request of our own has been posted. */
    void requestPosted() {
        requestPosted = true;
    }

    /** A new packet of the peer has arrived. */
    void arrived() {
        packets++;
        turns = requestPosted ? Math.min(turns + 1, MOST_TURNS) : 0;
        requestPosted = false;
    }

    /** The peer retransmits what was acknowledged: an ACK was lost, or late. */
    void duplicateReceived() {
        turns = 0;
    }

    /** Whether the ACK may be delayed for the longest time that is allowed. */
    boolean allowsLongDelay() {
        return turns >= turnsNeeded && packets < PACKETS;
    }

    /** The ACK is sent; {@code late} if it was delayed for the longest time that is allowed. */
    void sent(boolean late) {
        if (late && packets <= 1) {
            turnsNeeded = Math.min(turnsNeeded * 2, MOST_TURNS);
            turns = 0;
        } else if (packets >= PACKETS) {
            turnsNeeded = FEWEST_TURNS;
        }
        packets = 0;
    }
}
