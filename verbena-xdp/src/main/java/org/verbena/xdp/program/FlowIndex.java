// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.Errno;
import org.verbena.verbs.VerbsException;

/**
 * Flows in Java, for devices whose packets no program sees: what becomes of a packet is as {@link FlowTable} and the
 * program say. Flows under one mask are in one hash table; a packet is looked up under one mask after the other. Finding
 * allocates nothing. Not thread-safe.
 */
public final class FlowIndex {
    private static final long SPREAD = 0x9E37_79B9_7F4A_7C15L;

    private final List<Mask> masks = new ArrayList<>();
    private Mask[] used = {};

    /** No flows. */
    public FlowIndex() {}

    private static long[] words(FlowKey key) {
        long[] words = new long[FlowKey.WORDS];
        ByteBuffer.wrap(key.bytes()).order(ByteOrder.LITTLE_ENDIAN).asLongBuffer().get(words);
        return words;
    }

    /** The flows under a mask: open addressing, at most half full. */
    private static final class Mask {
        final FlowKey bits;
        final long order;
        private final long[] mask;
        private long[][] keys = new long[8][];
        private FlowAction[] actions = new FlowAction[8];
        private int flows;

        Mask(FlowKey bits, long order) {
            this.bits = bits;
            this.order = order;
            mask = words(bits);
        }

        /** Where the key is that a packet has under the mask, or else where it would be. */
        private int find(long[] packet) {
            long hash = 0;
            for (int i = 0; i < FlowKey.WORDS; i++) {
                hash = (hash ^ packet[i] & mask[i]) * SPREAD;
                hash ^= hash >>> 32;
            }
            hash *= SPREAD; // the last word's upper bits have not come to the lower ones yet
            int at = (int) (hash >>> 32) & keys.length - 1;
            while (keys[at] != null && !isEqual(keys[at], packet)) {
                at = at + 1 & keys.length - 1;
            }
            return at;
        }

        private boolean isEqual(long[] key, long[] packet) {
            for (int i = 0; i < FlowKey.WORDS; i++) {
                if (key[i] != (packet[i] & mask[i])) {
                    return false;
                }
            }
            return true;
        }

        @Nullable
        FlowAction action(long[] packet) {
            return actions[find(packet)];
        }

        boolean add(long[] key, FlowAction action) {
            int at = find(key);
            if (keys[at] != null) {
                return false;
            }
            keys[at] = key;
            actions[at] = action;
            flows++;
            if (2 * flows > keys.length) {
                rebuild(2 * keys.length);
            }
            return true;
        }

        void remove(long[] key) {
            int at = find(key);
            if (keys[at] == null) {
                return;
            }
            flows--;
            keys[at] = null;
            actions[at] = null;
            for (int next = at + 1 & keys.length - 1; keys[next] != null; next = next + 1 & keys.length - 1) {
                long[] moved = keys[next]; // it may have been placed behind the one that is gone
                FlowAction its = actions[next];
                keys[next] = null;
                actions[next] = null;
                int to = find(moved);
                keys[to] = moved;
                actions[to] = its;
            }
        }

        private void rebuild(int size) {
            long[][] oldKeys = keys;
            FlowAction[] oldActions = actions;
            keys = new long[size][];
            actions = new FlowAction[size];
            for (int i = 0; i < oldKeys.length; i++) {
                if (oldKeys[i] != null) {
                    int to = find(oldKeys[i]);
                    keys[to] = oldKeys[i];
                    actions[to] = oldActions[i];
                }
            }
        }
    }

    /**
     * Adds a flow. One that only watches has no place here.
     *
     * @throws VerbsException {@code EEXIST} (there is one for the same packets at the same priority)
     */
    public void add(String verb, FlowMatch match, FlowAction action) throws VerbsException {
        if (match.watches()) {
            return;
        }
        Mask mask = mask(match);
        if (mask == null) {
            mask = new Mask(match.bits(), match.order());
            masks.add(mask);
            masks.sort(Comparator.comparingLong(m -> m.order)); // a stable sort: else the older ones first
            used = masks.toArray(Mask[]::new);
        }
        if (!mask.add(words(match.key()), action)) {
            throw new VerbsException(verb, Errno.EEXIST,
                    "there is a flow for the same packets at the same priority: give it another one");
        }
    }

    /** Removes a flow that was added. */
    public void remove(FlowMatch match) {
        Mask mask = mask(match);
        if (mask != null) {
            mask.remove(words(match.key()));
            if (mask.flows == 0) {
                masks.remove(mask);
                used = masks.toArray(Mask[]::new);
            }
        }
    }

    private @Nullable Mask mask(FlowMatch match) {
        for (Mask m : used) {
            if (m.order == match.order() && m.bits.equals(match.bits())) {
                return m;
            }
        }
        return null;
    }

    /** Whether there is no flow. */
    public boolean isEmpty() {
        return used.length == 0;
    }

    /** What becomes of a packet; null if it belongs to no flow. */
    public @Nullable FlowAction find(PacketKey packet) {
        FlowAction found = find(packet.words);
        return found == null && packet.isError() ? find(packet.quoted) : found;
    }

    private @Nullable FlowAction find(long[] packet) {
        for (Mask m : used) {
            FlowAction found = m.action(packet);
            if (found != null) {
                return found;
            }
        }
        return null;
    }
}
