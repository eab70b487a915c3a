// SPDX-License-Identifier: Apache-2.0
package org.verbena.shm.datagram;

import java.util.ArrayList;
import java.util.List;

import org.verbena.verbs.Gid;

/** A multicast group as one context sees it: the queue pairs of all contexts that are attached to it. */
public final class MulticastGroup {
    private final Gid gid;
    private volatile Member[] members = {};

    /** A queue pair of a context. */
    record Member(long instance, int number) {}

    MulticastGroup(Gid gid) {
        this.gid = gid;
    }

    Gid gid() {
        return gid;
    }

    /** The members now; not to be changed. */
    Member[] members() {
        return members;
    }

    synchronized boolean add(Member m) {
        List<Member> all = new ArrayList<>(List.of(members));
        if (all.contains(m)) {
            return false;
        }
        all.add(m);
        members = all.toArray(Member[]::new);
        return true;
    }

    synchronized boolean remove(Member m) {
        List<Member> all = new ArrayList<>(List.of(members));
        boolean found = all.remove(m);
        members = all.toArray(Member[]::new);
        return found;
    }

    synchronized int removeAll(long instance) {
        List<Member> all = new ArrayList<>(List.of(members));
        int before = all.size();
        all.removeIf(m -> m.instance() == instance);
        members = all.toArray(Member[]::new);
        return before - all.size();
    }
}
