// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream;

import java.lang.foreign.MemorySegment;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Futex;
import org.verbena.linux.FutexSet;
import org.verbena.sockets.stream.memory.BlockLayout;

/**
 * Where the thread of a selector sleeps if rings carry all that it waits for: at a futex in the header of each session that its queue
 * has a ring in, {@link ReadyRings#BELL}. One thread sleeps at a time; {@link #wake} is for any.
 */
final class SelectorBell {
    private static final ReadyRings.Ring[] NONE = {};

    /** For several sessions; null before there were any. */
    private @Nullable FutexSet words;
    private volatile ReadyRings.Ring[] rings = NONE;
    private int before;
    /** The kernel does not let a thread sleep here. */
    private boolean broken;

    /** Whether a thread may sleep at the bells of all of these. */
    boolean isPossible(ReadyRings.Ring[] rings) {
        if (broken || rings.length == 0 || rings.length > 1 && (rings.length > FutexSet.MAX || !FutexSet
                .isSupported())) {
            return false;
        }
        for (ReadyRings.Ring ring : rings) {
            if (!ring.hasBell()) {
                return false;
            }
        }
        return true;
    }

    /** Before the peers are told that the owner sleeps. */
    void prepare(ReadyRings.Ring[] of) {
        rings = of;
        FutexSet all = words;
        if (all != null) {
            all.clear(); // also if it is not used this time: it would hold the memory of sessions that have ended
        }
        if (of.length < 2) {
            before = of.length == 0 ? 0 : BlockLayout.bell(of[0].bell(), 0);
            return;
        }
        if (all == null) {
            all = new FutexSet();
            words = all;
        }
        for (ReadyRings.Ring ring : of) {
            MemorySegment bell = ring.bell();
            all.add(bell, 0, BlockLayout.bell(bell, 0));
        }
    }

    /** Sleeps until a peer has rung since {@link #prepare}, or {@link #wake}; may end early. */
    void await(long nanos) {
        long start = nanos < 0 ? 0 : System.nanoTime();
        ReadyRings.Ring[] of = rings;
        FutexSet all = words;
        boolean isOver;
        if (of.length > 1 && all != null) {
            isOver = all.awaitWoken(nanos) || all.isChanged();
        } else {
            isOver = of.length == 0 || Futex.awaitWoken(of[0].bell(), 0, before, nanos) || BlockLayout.bell(of[0]
                    .bell(),
                    0) != before;
        }
        if (isOver || nanos >= 0 && System.nanoTime() - start >= nanos) {
            return;
        }
        broken = of.length > 1 && all != null ? !all.canSleep() : !Futex.canSleep(of[0].bell(), 0); // else it was a signal
    }

    /** Ends a sleep that was prepared. */
    void wake() {
        for (ReadyRings.Ring ring : rings) { // each: a session may end meanwhile, and its memory with it
            ring.wake();
        }
    }
}
