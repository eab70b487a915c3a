// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * From which senders the packets to a group are taken (RFC 3376, 2): from all but some, or from some.
 *
 * @param excludes whether it is all but {@code sources}
 * @param sources each is in it once
 */
public record SourceFilter(boolean excludes, List<IpAddress> sources) {
    /** All senders. */
    public static final SourceFilter ALL = new SourceFilter(true, List.of());
    /** No sender: who is not in the group. */
    public static final SourceFilter NONE = new SourceFilter(false, List.of());

    /** Copies the list, in the order of addresses. */
    public SourceFilter {
        sources = sources.stream().distinct().sorted(Comparator.comparingLong(IpAddress::high).thenComparingLong(
                IpAddress::low)).toList();
    }

    /** Whether packets of a sender are taken. */
    public boolean accepts(long high, long low) {
        boolean named = false;
        for (int i = 0; i < sources.size() && !named; i++) { // by index, since an iterator would be allocated
            IpAddress a = sources.get(i);
            named = a.low() == low && a.high() == high;
        }
        return named != excludes;
    }

    /** This with one more sender in the list. */
    public SourceFilter with(IpAddress source) {
        Set<IpAddress> all = new LinkedHashSet<>(sources);
        all.add(source);
        return new SourceFilter(excludes, List.copyOf(all));
    }

    /** This without a sender in the list. */
    public SourceFilter without(IpAddress source) {
        return new SourceFilter(excludes, minus(sources, List.of(source)));
    }

    static List<IpAddress> minus(Collection<IpAddress> a, Collection<IpAddress> b) {
        List<IpAddress> rest = new ArrayList<>(a);
        rest.removeAll(b);
        return rest;
    }

    /** What a host takes whose sockets have these (RFC 3376, 3.2). */
    static SourceFilter merge(Collection<SourceFilter> all) {
        Set<IpAddress> included = new LinkedHashSet<>();
        Set<IpAddress> excluded = null;
        for (SourceFilter f : all) {
            if (!f.excludes) {
                included.addAll(f.sources);
            } else if (excluded == null) {
                excluded = new LinkedHashSet<>(f.sources);
            } else {
                excluded.retainAll(f.sources);
            }
        }
        return excluded == null
                ? new SourceFilter(false, List.copyOf(included))
                : new SourceFilter(true, minus(excluded, included));
    }
}
