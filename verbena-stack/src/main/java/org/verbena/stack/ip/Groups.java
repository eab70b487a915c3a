// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.io.IOException;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * The groups of hosts that this host is in, of one version of IP, and what it tells routers and switches of them: the host's part of IGMPv3 (RFC 3376, 5) and MLDv2
 * (RFC 3810, 6), and of their older versions while a router speaks one of these.
 */
final class Groups {
    /** Groups at a time. */
    static final int MOST = 256;
    /** How often a change is told. */
    static final int ROBUSTNESS = 2;
    static final long REPEAT_INTERVAL = 1_000_000_000L;
    /** As long after a query of an older version its reports are sent (RFC 3376, 8.12: 2 queries of 125 s and their answers). */
    static final long OLDER_VERSION = 260_000_000_000L;

    private static final long NEVER = Long.MAX_VALUE;

    private final RandomGenerator random;
    private final Reports reports;
    private final AddressMap<Group> byAddress;
    private final List<Group> all = new ArrayList<>();
    /** When all are told of, since a router asks. */
    private long answerAt = NEVER;
    private long olderUntil;
    private boolean older;
    private long next = NEVER;

    /** A group, and what of it is told (RFC 3376, 4.2.12). */
    record Change(IpAddress group, Kind kind, List<IpAddress> sources) {}

    /** The kinds of records, with the numbers that they have on the wire. */
    enum Kind {
        IS_INCLUDE(1), IS_EXCLUDE(2), TO_INCLUDE(3), TO_EXCLUDE(4), ALLOW(5), BLOCK(6);

        final int number;

        Kind(int number) {
            this.number = number;
        }
    }

    /** Writes and sends what is told. */
    interface Reports {
        /** Tells of changes, or of all. */
        void report(List<Change> changes, long now) throws IOException;

        /** Tells that this host is in a group, as the older version has it. */
        void join(IpAddress group, long now) throws IOException;

        /** Tells that it is not any more. */
        void leave(IpAddress group, long now) throws IOException;

        /** Whether a group is not told of. */
        boolean isSilent(IpAddress group);
    }

    private static final class Group {
        final IpAddress address;
        final IdentityHashMap<Object, SourceFilter> filters = new IdentityHashMap<>();
        SourceFilter merged = SourceFilter.NONE;
        /** What is still to be told, how often, and when. */
        List<Change> pending = List.of();
        int left;
        long due = NEVER;
        /** When it is told of, since a router asks for it, and for which senders alone if there are some. */
        long answerAt = NEVER;
        List<IpAddress> asked = List.of();

        Group(IpAddress address) {
            this.address = address;
        }

        Change state(boolean changed) {
            Kind k = merged.excludes()
                    ? changed ? Kind.TO_EXCLUDE : Kind.IS_EXCLUDE
                    : changed ? Kind.TO_INCLUDE : Kind.IS_INCLUDE;
            return new Change(address, k, merged.sources());
        }

        private boolean isEmpty() {
            return !merged.excludes() && merged.sources().isEmpty();
        }
    }

    Groups(RandomGenerator random, Reports reports) {
        this.random = random;
        byAddress = new AddressMap<>(random);
        this.reports = reports;
    }

    /** Whether packets to a group are taken, of some sender at least. */
    boolean isMember(long high, long low) {
        Group g = byAddress.get(high, low);
        return g != null && !g.isEmpty();
    }

    /** Has an owner take packets to a group; false if there are too many groups. */
    boolean set(Object owner, IpAddress address, SourceFilter filter, long now) {
        Group g = byAddress.get(address.high(), address.low());
        if (g == null) {
            if (filter.equals(SourceFilter.NONE)) {
                return true;
            }
            if (all.size() == MOST) {
                return false;
            }
            g = new Group(address);
            all.add(g);
            byAddress.put(address.high(), address.low(), g);
        }
        if (filter.equals(SourceFilter.NONE)) {
            g.filters.remove(owner);
        } else {
            g.filters.put(owner, filter);
        }
        SourceFilter before = g.merged;
        g.merged = SourceFilter.merge(g.filters.values());
        if (!before.equals(g.merged) && !reports.isSilent(address)) {
            List<Change> changes = changes(g, before);
            // A second change before the first was told often enough is told as the state that it leads to.
            g.pending = g.left > 0 ? List.of(g.state(true)) : changes;
            g.left = ROBUSTNESS;
            g.due = now;
            next = now;
        } else if (g.isEmpty() && g.left == 0) {
            remove(g);
        }
        return true;
    }

    private static List<Change> changes(Group g, SourceFilter before) {
        SourceFilter after = g.merged;
        if (before.excludes() != after.excludes()) {
            return List.of(g.state(true));
        }
        List<IpAddress> more = SourceFilter.minus(after.sources(), before.sources());
        List<IpAddress> fewer = SourceFilter.minus(before.sources(), after.sources());
        List<Change> all = new ArrayList<>(2);
        List<IpAddress> allowed = after.excludes() ? fewer : more;
        List<IpAddress> blocked = after.excludes() ? more : fewer;
        if (!allowed.isEmpty()) {
            all.add(new Change(g.address, Kind.ALLOW, allowed));
        }
        if (!blocked.isEmpty()) {
            all.add(new Change(g.address, Kind.BLOCK, blocked));
        }
        return all;
    }

    private void remove(Group g) {
        all.remove(g);
        byAddress.remove(g.address.high(), g.address.low());
    }

    /** A router of an older version has asked; {@code group} is unspecified if for all. */
    void askedByOlder(IpAddress group, long most, long now) {
        older = true;
        olderUntil = now + OLDER_VERSION;
        asked(group, List.of(), most, now);
    }

    /**
     * A router has asked.
     *
     * @param group unspecified if for all
     * @param sources those that it asks for, of which packets to the group may be wanted; none if for all
     * @param most maximum response time in nanoseconds: each host answers at a random time within it
     */
    void asked(IpAddress group, List<IpAddress> sources, long most, long now) {
        long when = now + (most <= 0 ? 0 : random.nextLong(most));
        if (group.equals(IpAddress.UNSPECIFIED)) {
            answerAt = Math.min(answerAt, when);
            next = Math.min(next, answerAt);
            return;
        }
        Group g = byAddress.get(group.high(), group.low());
        if (g == null || answerAt <= when) {
            return;
        }
        // A question for all senders, or a second one, is answered with all of the group.
        g.asked = g.answerAt == NEVER ? sources : List.of();
        g.answerAt = Math.min(g.answerAt, when);
        next = Math.min(next, g.answerAt);
    }

    /** Another host has told that it is in a group: with the older version that is enough. */
    void heard(IpAddress group) {
        Group g = byAddress.get(group.high(), group.low());
        if (g != null && older) {
            g.answerAt = NEVER;
        }
    }

    /** Tells what is due; answers when to call again. */
    long work(long now) throws IOException {
        if (next == NEVER || now - next < 0) {
            return next;
        }
        if (older && now - olderUntil >= 0) {
            older = false;
        }
        List<Change> due = new ArrayList<>();
        next = NEVER;
        boolean tellAll = answerAt != NEVER && now - answerAt >= 0;
        answerAt = tellAll ? NEVER : answerAt;
        next = Math.min(next, answerAt);
        for (Group g : List.copyOf(all)) {
            if (g.left > 0 && now - g.due >= 0) {
                change(g, due, now);
            }
            if (tellAll || g.answerAt != NEVER && now - g.answerAt >= 0) {
                answer(g, tellAll, due, now);
            }
            if (g.isEmpty() && g.left == 0) {
                remove(g);
            } else {
                next = Math.min(next, Math.min(g.left > 0 ? g.due : NEVER, g.answerAt));
            }
        }
        if (!due.isEmpty()) {
            reports.report(due, now);
        }
        return next;
    }

    private void change(Group g, List<Change> due, long now) throws IOException {
        g.left--;
        g.due = now + 1 + random.nextLong(REPEAT_INTERVAL);
        if (!older) {
            due.addAll(g.pending);
        } else if (g.isEmpty()) {
            g.left = 0;
            reports.leave(g.address, now);
        } else {
            reports.join(g.address, now);
        }
    }

    private void answer(Group g, boolean all, List<Change> due, long now) throws IOException {
        List<IpAddress> asked = all ? List.of() : g.asked;
        g.answerAt = NEVER;
        g.asked = List.of();
        if (g.isEmpty() || reports.isSilent(g.address)) {
            return;
        }
        if (older) {
            reports.join(g.address, now);
        } else if (asked.isEmpty()) {
            due.add(g.state(false));
        } else {
            List<IpAddress> wanted = asked.stream().filter(a -> g.merged.accepts(a.high(), a.low())).toList();
            if (!wanted.isEmpty()) {
                due.add(new Change(g.address, Kind.IS_INCLUDE, wanted));
            }
        }
    }
}
