// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.verbena.linux.BpfMap;
import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;

/**
 * The flows in the maps of an interface. Thread-safe; it takes the flows that exist from the maps, and from then on nobody
 * else may change them.
 *
 * <p>A flow whose mask is in the list is one update of a map. Another mask needs a new list, which takes some
 * 10 ms, because a list is only written when no processor reads it any more. A mask that lost its last flow stays in the list until the next change, and costs nothing once there is no flow
 * behind it.
 */
public final class FlowTable {
    /** A mask in the list and how many flows have it. */
    private static final class Users {
        final MaskList.Mask mask;
        int flows;

        Users(MaskList.Mask mask) {
            this.mask = mask;
        }
    }

    private final FlowMaps maps;
    private MaskList list;
    /** In the order of the list in use; the first {@link #used} of them count. */
    private List<Users> masks = new ArrayList<>();
    private int used;

    /**
     * A table of the flows in the maps.
     *
     * @throws LinuxException of bpf(2)
     */
    public FlowTable(FlowMaps maps) throws LinuxException {
        this.maps = maps;
        list = maps.readMasks();
        Map<Integer, Users> byNumber = new HashMap<>();
        for (MaskList.Mask mask : list.masks()) {
            Users users = new Users(mask);
            masks.add(users);
            byNumber.put(mask.number(), users);
        }
        used = masks.size();
        maps.flows().forEach((key, _) -> {
            Users users = byNumber.get(Byte.toUnsignedInt(key[FlowKey.MASK]));
            if (users != null) {
                users.flows++;
            }
        });
    }

    /** A flow that is in the maps. */
    public final class Entry implements AutoCloseable {
        private final FlowKey key;
        private final Users users;
        private boolean closed;

        private Entry(FlowKey key, Users users) {
            this.key = key;
            this.users = users;
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
         * @throws LinuxException of bpf(2)
         */
        @Override
        public void close() throws LinuxException {
            synchronized (FlowTable.this) {
                if (!closed) {
                    closed = true;
                    maps.flows().delete(key.bytes());
                    users.flows--;
                    useMasks();
                }
            }
        }

        @Override
        public String toString() {
            return "flow " + key + " under " + users.mask.bits();
        }
    }

    /**
     * Adds a flow.
     *
     * @return the flow, which stays until it is closed
     * @throws LinuxException {@code EEXIST} (there is one for the same packets at the same priority), {@code ENOMEM} (more
     *         combinations of priority and mask than a packet is looked up under, or more flows than the map holds)
     */
    public synchronized Entry add(FlowMatch match, FlowEntry entry) throws LinuxException {
        if (match.watches() != (entry.action() == FlowAction.COUNT)) {
            throw new IllegalArgumentException("only a flow that watches counts and does nothing else: " + match);
        }
        for (Users users : masks) {
            if (users.mask.order() == match.order() && users.mask.bits().equals(match.bits())) {
                FlowKey key = match.key().withMask(users.mask.number());
                if (insert(key, entry)) {
                    users.flows++;
                    useMasks();
                    return new Entry(key, users);
                }
                if (!match.watches()) {
                    throw new LinuxException("add " + match, Errno.EEXIST,
                            "there is a flow for the same packets at the same priority: give it another one");
                }
            }
        }
        return addWithMask(match, entry);
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

    private Entry addWithMask(FlowMatch match, FlowEntry entry) throws LinuxException {
        List<Users> next = new ArrayList<>(masks.stream().filter(u -> u.flows > 0).toList());
        if (next.size() == MaskList.MAX) {
            throw new LinuxException("add " + match, Errno.ENOMEM, "flows have " + MaskList.MAX
                    + " combinations of priority and mask, under more no packet is looked up");
        }
        Users users = new Users(new MaskList.Mask(match.bits(), freeNumber(), match.order()));
        next.add(users);
        next.sort(Comparator.comparingLong(u -> u.mask.order())); // a stable sort: else the older ones first
        maps.awaitPrograms(); // one may still read the list that is written now
        MaskList prepared = list.prepared(next.stream().map(u -> u.mask).toList());
        maps.writeMasks(prepared);
        list = prepared;
        FlowKey key = match.key().withMask(users.mask.number());
        if (!insert(key, entry)) {
            throw new LinuxException("add " + match, Errno.EEXIST, "somebody else writes into the map of flows");
        }
        users.flows++;
        write(list.switched(countUsed(next)), countUsed(next));
        masks = next;
        return new Entry(key, users);
    }

    /** A number that means no mask in either list, one of which a program may still read. */
    private int freeNumber() {
        Set<Integer> taken = new HashSet<>();
        masks.forEach(u -> taken.add(u.mask.number()));
        int number = 0;
        while (taken.contains(number)) {
            number++;
        }
        return number;
    }

    private static int countUsed(List<Users> list) {
        int count = list.size();
        while (count > 0 && list.get(count - 1).flows == 0) {
            count--;
        }
        return count;
    }

    /** Lets the program look under the masks up to the last that has flows. */
    private void useMasks() throws LinuxException {
        int count = countUsed(masks);
        if (count != used) {
            write(list.shortened(count), count);
        }
    }

    private void write(MaskList changed, int count) throws LinuxException {
        maps.writeMasks(changed);
        list = changed;
        used = count;
    }

    /** How many flows there are. */
    public synchronized int size() {
        return masks.stream().mapToInt(u -> u.flows).sum();
    }

    /** Under how many masks the program looks up a packet that belongs to no flow. */
    public synchronized int lookups() {
        return used;
    }
}
