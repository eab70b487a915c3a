// SPDX-License-Identifier: Apache-2.0
package org.verbena.xdp.program;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.BitSet;
import java.util.Set;

import org.verbena.linux.BpfMap;
import org.verbena.linux.LinuxException;

/** The owners of targets and of blocks of counters. All methods under the lock of the maps. */
final class Claims {
    /** The owner of a program that is not shared with other processes. */
    static final int ALONE = FlowEntry.MAX_OWNER + 1;

    private final BpfMap map;
    private final int targets;

    Claims(FlowMaps maps) {
        map = maps.claims();
        targets = maps.targets();
    }

    /** The lowest target that nobody has, which then belongs to the owner; or -1. */
    int claimTarget(int owner) throws LinuxException {
        return claim(0, targets, owner);
    }

    /** The lowest block of counters that nobody has, which then belongs to the owner; or -1. */
    int claimBlock(int owner) throws LinuxException {
        int place = claim(targets, map.maxEntries(), owner);
        return place < 0 ? -1 : place - targets;
    }

    private int claim(int from, int to, int owner) throws LinuxException {
        BitSet taken = new BitSet();
        map.forEach((key, value) -> taken.set(number(key), number(value) != 0));
        int place = taken.nextClearBit(from);
        if (place >= to) {
            return -1;
        }
        map.update(FlowMaps.index(place), FlowMaps.index(owner));
        return place;
    }

    void releaseTarget(int target) throws LinuxException {
        map.update(FlowMaps.index(target), FlowMaps.index(0));
    }

    /** Frees what these owners have. */
    void release(Set<Integer> owners) throws LinuxException {
        BitSet theirs = new BitSet();
        map.forEach((key, value) -> theirs.set(number(key), owners.contains(number(value))));
        for (int i = theirs.nextSetBit(0); i >= 0; i = theirs.nextSetBit(i + 1)) {
            map.update(FlowMaps.index(i), FlowMaps.index(0));
        }
    }

    private static int number(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder()).getInt();
    }
}
