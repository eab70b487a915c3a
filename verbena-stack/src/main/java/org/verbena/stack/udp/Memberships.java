// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.udp;

import java.util.List;

import org.verbena.linux.Errno;
import org.verbena.stack.ip.Ip;
import org.verbena.stack.ip.IpAddress;
import org.verbena.stack.ip.SourceFilter;

/** The groups that sockets are in, with the calls and errors of ip(7): each answers 0 or an errno, and then nothing has changed. */
public final class Memberships {
    /** Groups that a socket is in, as Linux has it ({@code igmp_max_memberships}). */
    public static final int MOST_GROUPS = 20;
    /** Senders in the filter of a group, as Linux has it for IPv6 ({@code mld_max_msf}). */
    public static final int MOST_SENDERS = 64;

    private final Ip ip;

    Memberships(Ip ip) {
        this.ip = ip;
    }

    /** IP_ADD_MEMBERSHIP. */
    public int join(UdpQueue q, IpAddress group, long now) {
        return q.filter(group).equals(SourceFilter.NONE) ? set(q, group, SourceFilter.ALL, now) : Errno.EADDRINUSE;
    }

    /** IP_DROP_MEMBERSHIP. */
    public int leave(UdpQueue q, IpAddress group, long now) {
        return q.filter(group).equals(SourceFilter.NONE) ? Errno.EADDRNOTAVAIL : set(q, group, SourceFilter.NONE, now);
    }

    /** IP_ADD_SOURCE_MEMBERSHIP. */
    public int join(UdpQueue q, IpAddress group, IpAddress source, long now) {
        return q.filter(group).excludes() ? Errno.EINVAL : add(q, group, source, now);
    }

    /** IP_DROP_SOURCE_MEMBERSHIP. */
    public int leave(UdpQueue q, IpAddress group, IpAddress source, long now) {
        return q.filter(group).excludes() ? Errno.EADDRNOTAVAIL : remove(q, group, source, now);
    }

    /** IP_BLOCK_SOURCE. */
    public int block(UdpQueue q, IpAddress group, IpAddress source, long now) {
        return q.filter(group).excludes() ? add(q, group, source, now) : Errno.EADDRNOTAVAIL;
    }

    /** IP_UNBLOCK_SOURCE. */
    public int unblock(UdpQueue q, IpAddress group, IpAddress source, long now) {
        return q.filter(group).excludes() ? remove(q, group, source, now) : Errno.EADDRNOTAVAIL;
    }

    private int add(UdpQueue q, IpAddress group, IpAddress source, long now) {
        SourceFilter f = q.filter(group);
        if (group.isIpv4() != source.isIpv4()) {
            return Errno.EAFNOSUPPORT;
        }
        return f.sources().contains(source)
                ? Errno.EADDRINUSE
                : f.sources().size() == MOST_SENDERS ? Errno.ENOBUFS : set(q, group, f.with(source), now);
    }

    private int remove(UdpQueue q, IpAddress group, IpAddress source, long now) {
        SourceFilter f = q.filter(group);
        return f.sources().contains(source) ? set(q, group, f.without(source), now) : Errno.EADDRNOTAVAIL;
    }

    private int set(UdpQueue q, IpAddress group, SourceFilter f, long now) {
        if (!IpAddress.isMulticast(group.high(), group.low())) {
            return Errno.EINVAL;
        }
        if (q.filter(group).equals(SourceFilter.NONE) && q.groups().size() == MOST_GROUPS) {
            return Errno.ENOBUFS;
        }
        int wrong = ip.setFilter(q, q.port(), group, f, now);
        if (wrong == 0) {
            q.filter(group, f);
        }
        return wrong;
    }

    /** The socket is gone. */
    void leaveAll(UdpQueue q, long now) {
        for (IpAddress group : List.copyOf(q.groups())) {
            ip.setFilter(q, q.port(), group, SourceFilter.NONE, now);
            q.filter(group, SourceFilter.NONE);
        }
    }
}
