// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;

import org.verbena.stack.header.Bytes;
import org.verbena.stack.header.Icmpv6Message;
import org.verbena.stack.header.IgmpMessage;
import org.verbena.stack.header.Ipv6Header;
import org.verbena.stack.wire.SendFrame;

/** MLD of a host (RFC 3810; RFC 2710 while a router speaks that): tells routers and switches which groups this host is in. */
final class Mld implements Groups.Reports {
    private static final long ALL_ROUTERS = 2;
    private static final long MLD_ROUTERS = 0x16;
    /** A hop-by-hop header with the option of RFC 2711, for MLD, and PadN. */
    private static final int ALERT = 8;
    private static final int VERSION_1 = 24;
    private static final int QUERY_2 = 28;
    private static final int FLOATING = 0x8000;
    private static final long MILLI = 1_000_000L;

    private final OwnIpv6 host;
    private final Ip ip;
    private final Groups groups;
    private final Path path = new Path();

    Mld(OwnIpv6 host) {
        this.host = host;
        ip = host.ip;
        groups = new Groups(ip.random, this);
    }

    Groups groups() {
        return groups;
    }

    /** A router asks, or another host tells the router; a message of ICMPv6 that was checked. */
    void received(Datagram d, int type, long now) {
        MemorySegment m = d.memory();
        long at = d.at();
        int n = d.length();
        if (n < VERSION_1 || d.hopLimit != 1 || !IpAddress.isLinkLocal(d.path().remoteHigh())) {
            ip.counts.malformed++;
            return;
        }
        IpAddress group = new IpAddress(Bytes.i64(m, at + 8), Bytes.i64(m, at + 16));
        int time = Bytes.u16(m, at + 4);
        if (type == Icmpv6Message.GROUP_REPORT) {
            groups.heard(group);
        } else if (n < QUERY_2) {
            groups.askedByOlder(group, time * MILLI, now);
        } else {
            int sources = Bytes.u16(m, at + 26);
            if (n < QUERY_2 + IpAddress.BYTES * sources) {
                ip.counts.malformed++;
                return;
            }
            groups.asked(group, GroupRecords.readAddresses(m, at + QUERY_2, sources, false), IgmpMessage.code(time,
                    FLOATING, 12) * MILLI, now);
        }
    }

    @Override
    public boolean isSilent(IpAddress group) { // all hosts, and those of the host or of no scope
        return (group.high() >>> 48 & 0xf) <= 1 || group.high() == IpAddress.linkLocalGroup() && group.low() == 1;
    }

    @Override
    public void report(List<Groups.Change> told, long now) throws IOException {
        to(new IpAddress(IpAddress.linkLocalGroup(), MLD_ROUTERS));
        int room = ip.room(path) - ALERT - Icmpv6Message.BYTES;
        List<Groups.Change> changes = GroupRecords.split(told, room, false);
        for (int i = 0; i < changes.size();) {
            int n = GroupRecords.fitting(changes, i, room, false);
            SendFrame f = ip.acquire();
            if (f == null) {
                return; // changes are told again, and who asked asks again
            }
            long at = Ip.payload(f, path) + ALERT;
            long end = at + Icmpv6Message.BYTES;
            for (Groups.Change c : changes.subList(i, i + n)) {
                end = GroupRecords.write(f.memory(), end, c, false);
            }
            send(f, Icmpv6Message.GROUP_REPORT_2, n, (int) (end - at), now);
            i += n;
        }
    }

    @Override
    public void join(IpAddress group, long now) throws IOException {
        to(group);
        tell(Icmpv6Message.GROUP_REPORT, group, now);
    }

    @Override
    public void leave(IpAddress group, long now) throws IOException {
        to(new IpAddress(IpAddress.linkLocalGroup(), ALL_ROUTERS));
        tell(Icmpv6Message.GROUP_DONE, group, now);
    }

    /** From the link-local address, or from none while it may be another host's (RFC 3590). */
    private void to(IpAddress group) {
        Ipv6Addresses.Entry own = host.addresses.select(IpAddress.linkLocalGroup(), MLD_ROUTERS);
        if (own == null || own.optimistic || !IpAddress.isLinkLocal(own.high)) {
            path.set(0, 0, group.high(), group.low());
        } else {
            path.set(own.high, own.low, group.high(), group.low());
        }
    }

    private void tell(int type, IpAddress group, long now) throws IOException {
        SendFrame f = ip.acquire();
        if (f != null) {
            long at = Ip.payload(f, path) + ALERT;
            Bytes.put64(f.memory(), at + 8, group.high());
            Bytes.put64(f.memory(), at + 16, group.low());
            send(f, type, 0, VERSION_1, now);
        }
    }

    private void send(SendFrame f, int type, int word, int length, long now) throws IOException {
        long at = Ip.payload(f, path);
        Bytes.put32(f.memory(), at, Ipv6Header.ICMP << 24 | 0x05_02);
        Bytes.put32(f.memory(), at + 4, 0x0100);
        Icmpv6Message.write(f.memory(), at + ALERT, length, type, 0, word, path.sum());
        host.sendNear(f, Ipv6Header.HOP_BY_HOP, path, 1, ALERT + length, now);
    }
}
