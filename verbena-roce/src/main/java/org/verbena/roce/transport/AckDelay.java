// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce.transport;

/**
 * Whether the ACKs of a reliable queue pair may wait for long. They may where both sides talk in turn: requests of our own
 * leave between those that come, so the peer waits for these and not for its completions. Where it did wait, it falls
 * silent until the ACK; then the next attempt is made after twice as many turns.
 */
final class AckDelay {
    /** So many packets have one ACK at most: half of the smallest window, so that no peer runs into its end. */
    private static final int PACKETS = CongestionWindow.MIN / 2;
    private static final int FEWEST_TURNS = 8;
    private static final int MOST_TURNS = 1024;

    /** Packets since the last ACK. */
    private int packets;
    /** Packets in a row before each of which something of our own has left. */
    private int turns;
    private int turnsNeeded = FEWEST_TURNS;
    private boolean spoken;

    void clear() {
        packets = 0;
        turns = 0;
        turnsNeeded = FEWEST_TURNS;
        spoken = false;
    }

    /** A request of our own has been posted. */
    void spoken() {
        spoken = true;
    }

    /** A new packet of the peer's has come. */
    void arrived() {
        packets++;
        turns = spoken ? Math.min(turns + 1, MOST_TURNS) : 0;
        spoken = false;
    }

    /** The peer repeats what was acknowledged: an ACK was lost, or late. */
    void repeated() {
        turns = 0;
    }

    /** Whether the ACK may wait for as long as anyone's may. */
    boolean isPatient() {
        return turns >= turnsNeeded && packets < PACKETS;
    }

    /** The ACK leaves, {@code late} if it has waited for as long as it may. */
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
