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
 * program say, and what is counted. Flows under one mask are in one hash table; a packet is looked up under one mask after the other. Finding
 * allocates nothing. Not thread-safe.
 */
public final class FlowIndex {
    private static final long SPREAD = 0x9E37_79B9_7F4A_7C15L;

    private final List<Mask> masks = new ArrayList<>();
    private Mask[] used = {};

    /** No flows. */
    public FlowIndex() {}

    /** What a flow does with its packets. */
    public interface Entry {
        /** What becomes of them. */
        FlowAction action();

        /**
         * The flow has a packet.
         *
         * @param bytes of the whole frame
         */
        void count(int bytes);
    }

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
        private Entry[] entries = new Entry[8];
        private int flows;

        Mask(FlowKey bits, long order) {
            this.bits = bits;
            this.order = order;
            mask = words(bits);
        }

        boolean is(FlowMatch match) {
            return order == match.order() && bits.equals(match.bits());
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
        Entry entry(long[] packet) {
            return entries[find(packet)];
        }

        boolean add(long[] key, Entry entry) {
            int at = find(key);
            if (keys[at] != null) {
                return false;
            }
            keys[at] = key;
            entries[at] = entry;
            flows++;
            if (2 * flows > keys.length) {
                rebuild(2 * keys.length);
            }
            return true;
        }

        /** False if that is not the entry of the key. */
        boolean remove(long[] key, Entry entry) {
            int at = find(key);
            if (entries[at] != entry) {
                return false;
            }
            flows--;
            keys[at] = null;
            entries[at] = null;
            for (int next = at + 1 & keys.length - 1; keys[next] != null; next = next + 1 & keys.length - 1) {
                long[] moved = keys[next]; // it may have been placed behind the one that is gone
                Entry its = entries[next];
                keys[next] = null;
                entries[next] = null;
                int to = find(moved);
                keys[to] = moved;
                entries[to] = its;
            }
            return true;
        }

        private void rebuild(int size) {
            long[][] oldKeys = keys;
            Entry[] oldEntries = entries;
            keys = new long[size][];
            entries = new Entry[size];
            for (int i = 0; i < oldKeys.length; i++) {
                if (oldKeys[i] != null) {
                    int to = find(oldKeys[i]);
                    keys[to] = oldKeys[i];
                    entries[to] = oldEntries[i];
                }
            }
        }
    }

    /**
     * Adds a flow.
     *
     * @throws VerbsException {@code EEXIST} (there is one for the same packets at the same priority, and neither only
     *         watches)
     */
    public void add(String verb, FlowMatch match, Entry entry) throws VerbsException {
        long[] key = words(match.key());
        for (Mask m : used) {
            if (m.is(match)) {
                if (m.add(key, entry)) {
                    return;
                }
                if (!match.watches()) {
                    throw new VerbsException(verb, Errno.EEXIST,
                            "there is a flow for the same packets at the same priority: give it another one");
                }
            }
        }
        Mask mask = new Mask(match.bits(), match.order());
        mask.add(key, entry);
        masks.add(mask);
        masks.sort(Comparator.comparingLong(m -> m.order)); // a stable sort: else the older ones first
        used = masks.toArray(Mask[]::new);
    }

    /** Removes a flow that was added. Idempotent. */
    public void remove(FlowMatch match, Entry entry) {
        for (Mask m : used) {
            if (m.is(match) && m.remove(words(match.key()), entry)) {
                if (m.flows == 0) {
                    masks.remove(m);
                    used = masks.toArray(Mask[]::new);
                }
                return;
            }
        }
    }

    /** Whether there is no flow. */
    public boolean isEmpty() {
        return used.length == 0;
    }

    /**
     * What becomes of a packet; null if it belongs to no flow. The flow that it belongs to counts it, and those that watch
     * it.
     *
     * @param bytes of the whole frame
     */
    public @Nullable FlowAction handle(PacketKey packet, int bytes) {
        FlowAction found = handle(packet.words, bytes, true);
        return found == null && packet.isError() ? handle(packet.quoted, bytes, false) : found;
    }

    /** {@code itself}: what an ICMP error quotes is for flows that take packets, not for those that watch. */
    private @Nullable FlowAction handle(long[] packet, int bytes, boolean itself) {
        for (Mask m : used) {
            Entry found = m.entry(packet);
            if (found != null) {
                FlowAction action = found.action();
                boolean watches = action == FlowAction.COUNT;
                if (itself || !watches) {
                    found.count(bytes);
                }
                if (!watches) {
                    return action;
                }
            }
        }
        return null;
    }
}
