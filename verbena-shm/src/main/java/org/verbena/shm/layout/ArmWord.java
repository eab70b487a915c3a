// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.layout;

import org.verbena.linux.spi.RawMemory;

/**
 * The word by which a completion queue requests signals from the threads that complete requests:
 * {@code sequence:60 | moderated:1 | many:1 | mode:2}. The mode selects the completions that signal the channel, once
 * for each sequence; {@link #MODERATED} requests to ring the owner's engine instead, which counts; {@link #MANY} requests
 * a count of the queue pair, see {@link LaneLayout}.
 */
public final class ArmWord {
    static final int SOLICITED_ONLY = 1;
    static final int ANY = 2;
    public static final long MANY = 4;
    public static final long MODERATED = 8;

    private static final long MODE = 3;
    private static final int SEQUENCE_SHIFT = 4;
    private static final int TRIES = 64;

    private ArmWord() {}

    /** True if no signal and no count is requested. */
    public static boolean isQuiet(long word) {
        return (word & (MODE | MANY)) == 0;
    }

    /** True if a completion is to signal the channel. */
    public static boolean isArmed(long word, boolean solicited) {
        long mode = word & MODE;
        return mode == ANY || mode == SOLICITED_ONLY && solicited;
    }

    public static boolean isArmed(long word) {
        return (word & MODE) != 0;
    }

    /** The word after one more call that arms; an armed queue is never armed for less. */
    public static long arm(long word, boolean solicitedOnly) {
        int mode = solicitedOnly && (word & MODE) != ANY ? SOLICITED_ONLY : ANY;
        return (word >>> SEQUENCE_SHIFT) + 1 << SEQUENCE_SHIFT | word & MANY | mode;
    }

    /** The same arming once more, so that a thread that has signalled it does so again, and to the engine. */
    public static long moderate(long word) {
        return (word >>> SEQUENCE_SHIFT) + 1 << SEQUENCE_SHIFT | word & (MANY | MODE) | MODERATED;
    }

    public static long disarm(long word) {
        return word & ~(MODE | MODERATED);
    }

    /** The doorbell to ring for a word: the channel's, or that of the engine, which decides when to signal the channel. */
    public static int bell(long word, int channel) {
        return isModerated(word) ? 0 : channel;
    }

    /** True if the engine decides when to signal the channel. */
    public static boolean isModerated(long word) {
        return (word & MODERATED) != 0;
    }

    /**
     * Records that an arm word was signalled, where several initiators record it. A late one must not write an earlier arming over a
     * later one; false if the owner has armed again, and so has polled again, meanwhile.
     *
     * @param notified address of the word that records it
     * @param armWord address of the arm word
     */
    public static boolean markNotified(long notified, long armWord, long word) {
        for (int i = 0; i < TRIES; i++) {
            long old = RawMemory.getLongAcquire(notified);
            if (!isSame(RawMemory.getLongAcquire(armWord), word)) {
                return false;
            }
            if (isSame(old, word) || RawMemory.compareAndSetLong(notified, old, word)) {
                return true;
            }
        }
        return true; // a peer writes endlessly
    }

    /** True if both were armed by the same call. */
    public static boolean isSame(long a, long b) {
        return ((a ^ b) & ~MANY) == 0;
    }
}
