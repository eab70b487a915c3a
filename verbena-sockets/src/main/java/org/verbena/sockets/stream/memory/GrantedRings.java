// SPDX-License-Identifier: Apache-2.0
package org.verbena.sockets.stream.memory;

import java.util.ArrayDeque;

/**
 * The rings that an end has granted and does not read yet, in order: as long as its program does not read, the peer may be
 * several ahead. Where each begins the peer sends in a word of which only the last value is there, so it is recorded
 * here before the next one is granted. Guarded by the session's lock.
 */
public final class GrantedRings {
    public static final long UNKNOWN = -1;

    private static final class Granted {
        final Memory ring;
        long start = UNKNOWN;

        Granted(Memory ring) {
            this.ring = ring;
        }
    }

    private final ArrayDeque<Granted> rings = new ArrayDeque<>(1);

    /**
     * One more is granted.
     *
     * @param startOfLast where the one before it begins
     */
    public void add(Memory ring, long startOfLast) {
        Granted last = rings.peekLast();
        if (last != null) {
            last.start = startOfLast;
        }
        rings.addLast(new Granted(ring));
    }

    /** The last one; {@code now}, which is read, if there is none. */
    public Memory newest(Memory now) {
        Granted last = rings.peekLast();
        return last == null ? now : last.ring;
    }

    /**
     * Where the first one begins.
     *
     * @param generation of the first one
     * @param lane the peer's word
     * @return {@link #UNKNOWN} if the peer cannot be there
     */
    public long start(int generation, long lane) {
        Granted first = rings.peekFirst();
        if (first == null) {
            return UNKNOWN;
        }
        if (first.start == UNKNOWN && BlockLayout.generation(lane) == (generation & BlockLayout.GENERATION_MASK)) {
            return BlockLayout.start(lane); // it is the last one that was granted, or was when the word was read
        }
        return first.start;
    }

    /** Takes the first one, which is read from now on. */
    public Memory take() {
        return rings.removeFirst().ring;
    }

    /** Bytes of as many of them, from the first on, as hold {@code unread} bytes. */
    public int size(long unread) {
        int size = 0;
        for (Granted granted : rings) {
            if (unread <= size) {
                break;
            }
            size += granted.ring.size();
        }
        return size;
    }

    public void free(Arena arena) {
        rings.forEach(granted -> arena.free(granted.ring));
        rings.clear();
    }
}
