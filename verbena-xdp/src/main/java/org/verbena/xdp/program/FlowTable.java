// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.verbena.linux.BpfMap;
import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;

/**
 * The flows in the maps of an interface, as this process changes them; all that is known of them is in the maps, under a lock
 * that other processes keep to. Thread-safe.
 *
 * <p>A flow whose mask is in the list is one update of the map of flows. Another mask needs a new list, which takes some
 * 10 ms, because a list is only written when no processor reads it any more. A mask that lost its last flow stays in the list
 * until the next change, and costs nothing once there is no flow behind it.
 *
 * <p>A process may end between any two of its steps. A flow of it counts for nothing from then on, so the numbers of
 * flows may be wrong by its flows only, until {@link #removeOwners} has counted all.
 */
public final class FlowTable {
    /** What keeps the processes apart. */
    interface Exclusion {
        /** For the maps of one process. */
        Exclusion NONE = new Exclusion() {
            @Override
            public void enter() {}

            @Override
            public void leave() {}

            @Override
            public boolean cleaned() {
                return false;
            }

            @Override
            public String describe(int owner) {
                return "";
            }
        };

        /** Waits until no other process changes the maps. */
        void enter() throws LinuxException;

        void leave() throws LinuxException;

        /** Under the lock: removes what ended processes have left; true if there was something. */
        boolean cleaned() throws LinuxException;

        /** Whose flow it is, with a space before, or nothing. */
        String describe(int owner);
    }

    /** A mask with flows of this process, which the list keeps so long. */
    private static final class Used {
        final MaskList.Mask mask;
        int flows = 1;

        Used(MaskList.Mask mask) {
            this.mask = mask;
        }
    }

    private final FlowMaps maps;
    private final Exclusion exclusion;
    private final List<Used> used = new ArrayList<>();

    /** A table of the flows in the maps, which no other process changes. */
    public FlowTable(FlowMaps maps) {
        this(maps, Exclusion.NONE);
    }

    FlowTable(FlowMaps maps, Exclusion exclusion) {
        this.maps = maps;
        this.exclusion = exclusion;
    }

    /** A flow that is in the maps. */
    public final class Entry implements AutoCloseable {
        private final FlowKey key;
        private final FlowKey bits;
        private boolean closed;

        private Entry(FlowKey key, FlowKey bits) {
            this.key = key;
            this.bits = bits;
        }

        /** Its key in the map. */
        FlowKey key() {
            return key;
        }

        /**
         * Changes what happens to the packets, between two of them.
         *
         * @throws LinuxException of bpf(2)
         */
        public void update(FlowEntry entry) throws LinuxException {
            synchronized (FlowTable.this) {
                if (closed) {
                    throw new IllegalStateException("the flow is closed");
                }
                maps.flows().update(key.bytes(), entry.bytes(), BpfMap.BPF_EXIST);
            }
        }

        /**
         * Removes the flow; a packet that the program has found it for is still treated so. Idempotent.
         *
         * @throws LinuxException of bpf(2), {@code ETIMEDOUT} (another process holds the lock)
         */
        @Override
        public void close() throws LinuxException {
            synchronized (FlowTable.this) {
                if (!closed) {
                    exclusion.enter();
                    try {
                        remove(key);
                        closed = true;
                    } finally {
                        exclusion.leave();
                    }
                }
            }
        }

        @Override
        public String toString() {
            return "flow of " + MatchText.of(key, bits);
        }
    }

    /** Under the lock: a process that counts the users of each mask meets at least one flow of each user. */
    private void remove(FlowKey key) throws LinuxException {
        if (!maps.flows().delete(key.bytes())) {
            return;
        }
        int number = key.unsignedByte(FlowKey.MASK);
        for (Used u : used) {
            if (u.mask.number() == number && --u.flows == 0) {
                used.remove(u);
                MaskList list = maps.readMasks();
                maps.writeMasks(list.counted(number, Math.max(0, list.users(number) - 1)));
                return;
            }
        }
    }

    private void use(MaskList.Mask mask, MaskList list) throws LinuxException {
        for (Used u : used) {
            if (u.mask.number() == mask.number()) {
                u.flows++;
                return;
            }
        }
        maps.writeMasks(list.counted(mask.number(), list.users(mask.number()) + 1));
        used.add(new Used(mask));
    }

    /**
     * Adds a flow.
     *
     * @return the flow, which stays until it is closed
     * @throws LinuxException {@code EEXIST} (there is one for the same packets at the same priority), {@code ENOMEM} (more
     *         combinations of priority and mask than a packet is looked up under, or more flows than the map holds),
     *         {@code ETIMEDOUT} (another process holds the lock)
     */
    public synchronized Entry add(FlowMatch match, FlowEntry entry) throws LinuxException {
        if (match.watches() != (entry.action() == FlowAction.COUNT)) {
            throw new IllegalArgumentException("only a flow that watches counts and does nothing else: " + match);
        }
        Entry quick = insertUnderUsed(match, entry);
        if (quick != null) {
            return quick;
        }
        exclusion.enter();
        try {
            try {
                return insert(match, entry);
            } catch (LinuxException e) {
                if (e.errno() != Errno.EEXIST && e.errno() != Errno.ENOMEM || !exclusion.cleaned()) {
                    throw e;
                }
            }
            return insert(match, entry); // there is room now
        } finally {
            exclusion.leave();
        }
    }

    /** Without a lock, as the list stays as it is; null if that cannot be. */
    private @Nullable Entry insertUnderUsed(FlowMatch match, FlowEntry entry) throws LinuxException {
        for (Used u : used) {
            if (isUnder(match, u.mask)) {
                FlowKey key = match.key().withMask(u.mask.number());
                try {
                    if (insert(key, entry)) {
                        u.flows++;
                        return new Entry(key, match.bits());
                    }
                } catch (LinuxException e) {
                    if (e.errno() != Errno.ENOMEM) { // else an ended process may have left flows
                        throw e;
                    }
                }
            }
        }
        return null;
    }

    private Entry insert(FlowMatch match, FlowEntry entry) throws LinuxException {
        MaskList list = maps.readMasks();
        for (MaskList.Mask mask : list.listed()) {
            if (isUnder(match, mask)) {
                FlowKey key = match.key().withMask(mask.number());
                if (insert(key, entry)) {
                    use(mask, list);
                    return new Entry(key, mask.bits());
                }
                if (!match.watches()) {
                    Optional<byte[]> there = maps.flows().lookup(key.bytes());
                    throw new LinuxException("add " + match, Errno.EEXIST, "there is a flow" + (there.isEmpty()
                            ? ""
                            : exclusion.describe(FlowEntry.owner(there.get())))
                            + " for the same packets at the same priority: give it another one");
                }
            }
        }
        return insertWithMask(list, match, entry);
    }

    private static boolean isUnder(FlowMatch match, MaskList.Mask mask) {
        return mask.order() == match.order() && mask.bits().equals(match.bits());
    }

    /** False if the key is there. */
    private boolean insert(FlowKey key, FlowEntry entry) throws LinuxException {
        try {
            maps.flows().update(key.bytes(), entry.bytes(), BpfMap.BPF_NOEXIST);
            return true;
        } catch (LinuxException e) {
            if (e.errno() == Errno.EEXIST) {
                return false;
            }
            if (e.errno() == Errno.E2BIG) {
                throw new LinuxException("add a flow", Errno.ENOMEM, "there are " + maps.flows().maxEntries()
                        + " flows, more do not fit into the map");
            }
            throw e;
        }
    }

    private Entry insertWithMask(MaskList list, FlowMatch match, FlowEntry entry) throws LinuxException {
        List<MaskList.Mask> next = new ArrayList<>(list.listed().stream().filter(m -> list.users(m.number()) > 0)
                .toList());
        if (next.size() == MaskList.MAX) {
            throw new LinuxException("add " + match, Errno.ENOMEM, "flows have " + MaskList.MAX
                    + " combinations of priority and mask, under more no packet is looked up");
        }
        MaskList.Mask mask = new MaskList.Mask(match.bits(), freeNumber(list), match.order());
        next.add(mask);
        next.sort(Comparator.comparingLong(MaskList.Mask::order)); // a stable sort: else the older ones first
        maps.awaitPrograms(); // one may still read the list that is written now
        MaskList prepared = list.prepared(next);
        maps.writeMasks(prepared);
        FlowKey key = match.key().withMask(mask.number());
        if (!insert(key, entry)) {
            throw new LinuxException("add " + match, Errno.EEXIST, "an ended process has left a flow there");
        }
        maps.writeMasks(prepared.switched(next.size()).counted(mask.number(), 1));
        used.add(new Used(mask));
        return new Entry(key, mask.bits());
    }

    /** A number that means no mask in either list, one of which a program may still read. */
    private static int freeNumber(MaskList list) {
        Set<Integer> taken = list.listed().stream().map(MaskList.Mask::number).collect(Collectors.toSet());
        int number = 0;
        while (taken.contains(number)) {
            number++;
        }
        return number;
    }

    /** Removes the flows of some owners, and counts whose the others are; under the lock. */
    void removeOwners(Set<Integer> owners) throws LinuxException {
        MaskList list = maps.readMasks();
        Set<Integer> numbers = list.listed().stream().map(MaskList.Mask::number).collect(Collectors.toSet());
        List<byte[]> dead = new ArrayList<>();
        List<Set<Integer>> users = Stream.generate(() -> (Set<Integer>) new HashSet<Integer>()).limit(MaskList.NUMBERS)
                .toList();
        maps.flows().forEach((key, value) -> {
            int number = Byte.toUnsignedInt(key[FlowKey.MASK]);
            if (owners.contains(FlowEntry.owner(value)) || !numbers.contains(number)) {
                dead.add(key);
            } else {
                users.get(number).add(FlowEntry.owner(value));
            }
        });
        for (byte[] key : dead) {
            maps.flows().delete(key);
        }
        maps.writeMasks(list.counted(users.stream().mapToInt(Set::size).toArray()));
    }

    /** How many flows there are. */
    public synchronized int size() throws LinuxException {
        int[] n = {0};
        maps.flows().forEach((key, value) -> n[0]++);
        return n[0];
    }

    /** Under how many masks the program looks up a packet that belongs to no flow. */
    public synchronized int lookups() throws LinuxException {
        return maps.readMasks().used();
    }
}
