// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.verbena.linux.Errno;
import org.verbena.verbs.Gid;
import org.verbena.verbs.VerbsException;

/** The multicast groups of a context and their members. Thread-safe. */
final class Multicast {
    private final RoceContext context;
    private final Map<Gid, Set<RoceQueuePair>> groups = new HashMap<>();

    Multicast(RoceContext context) {
        this.context = context;
    }

    synchronized void attach(String verb, RoceQueuePair qp, Gid group) throws VerbsException {
        Set<RoceQueuePair> members = groups.get(group);
        if (members != null && members.contains(qp)) {
            return;
        }
        int attached = groups.values().stream().mapToInt(Set::size).sum();
        if (members == null && groups.size() == RoceLimits.MAX_GROUPS || attached == RoceLimits.MAX_ATTACHED) {
            throw new VerbsException(verb, Errno.ENOMEM, "a context has " + RoceLimits.MAX_GROUPS + " groups and "
                    + RoceLimits.MAX_ATTACHED + " members of groups at most");
        }
        ContextLock lock = context.lock();
        lock.lock();
        try {
            context.progress().requireOpen(verb);
            if (members == null) {
                context.port().join(group);
                members = new HashSet<>();
                groups.put(group, members);
            }
            context.transport().attach(qp.core().transport, group);
        } finally {
            lock.unlock();
        }
        members.add(qp);
    }

    synchronized void detach(String verb, RoceQueuePair qp, Gid group) throws VerbsException {
        Set<RoceQueuePair> members = groups.get(group);
        if (members == null || !members.remove(qp)) {
            throw new VerbsException(verb, Errno.EINVAL, "it is not attached");
        }
        ContextLock lock = context.lock();
        lock.lock();
        try {
            context.transport().detach(qp.core().transport, group);
            if (members.isEmpty()) {
                groups.remove(group);
                context.port().leave(group);
            }
        } finally {
            lock.unlock();
        }
    }

    /** A queue pair is being closed. */
    synchronized void detachAll(RoceQueuePair qp) throws VerbsException {
        List<Gid> all = new ArrayList<>();
        groups.forEach((group, members) -> {
            if (members.contains(qp)) {
                all.add(group);
            }
        });
        for (Gid group : all) {
            detach("close " + qp.describe(), qp, group);
        }
    }
}
