// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;

import org.verbena.stack.header.Bytes;
import org.verbena.stack.header.Checksum;
import org.verbena.stack.header.EthernetHeader;
import org.verbena.stack.header.IgmpMessage;
import org.verbena.stack.header.Ipv4Header;
import org.verbena.stack.wire.SendFrame;

/** IGMP of a host (RFC 3376; RFC 2236 or 1112 while a router speaks that): tells routers which groups this host is in. */
final class Igmp implements Protocol, Groups.Reports {
    private static final int ALL_HOSTS = 0xe000_0001;
    private static final int ALL_ROUTERS = 0xe000_0002;
    private static final int IGMP_ROUTERS = 0xe000_0016;
    /** Routers look at the packet: RFC 2113. */
    private static final int ROUTER_ALERT = 0x9404_0000;
    private static final int HEADER = Ipv4Header.BYTES + 4;
    private static final long TENTH = 100_000_000L;
    /** Of a query of version 1, which has no time (RFC 2236, 4). */
    private static final long TEN_SECONDS = 100 * TENTH;

    private final Ip ip;
    private final Ipv4Address address;
    private final Groups groups;
    /** A router speaks version 1, until when. */
    private boolean oldest;
    private long oldestUntil;

    Igmp(Ip ip, Ipv4Address address) {
        this.ip = ip;
        this.address = address;
        groups = new Groups(ip.random, this);
    }

    Groups groups() {
        return groups;
    }

    /** Whether a group needs to be told to nobody, since all are in it. */
    static boolean isAllHosts(int group) {
        return group == ALL_HOSTS;
    }

    @Override
    public void received(Datagram d, long now) {
        MemorySegment m = d.memory();
        long at = d.at();
        int n = d.length();
        if (!IgmpMessage.isValid(m, at, n) || d.hopLimit != 1 || !d.isToMany()) { // else from another link
            ip.counts.malformed++;
            return;
        }
        int type = IgmpMessage.type(m, at);
        IpAddress group = IgmpMessage.group(m, at) == 0
                ? IpAddress.UNSPECIFIED
                : IpAddress.ofIpv4(IgmpMessage.group(m, at));
        if (type == IgmpMessage.REPORT_2 || type == IgmpMessage.REPORT_1) {
            groups.heard(group);
        } else if (type != IgmpMessage.QUERY) {
            ip.counts.notForUs++;
        } else if (n < IgmpMessage.QUERY_BYTES) {
            int tenths = Bytes.u8(m, at + 1);
            if (tenths == 0) { // of version 1, whatever others speak (RFC 3376, 7.2.1); it asks for all groups
                oldest = true;
                oldestUntil = now + Groups.OLDER_VERSION;
                groups.askedByOlder(IpAddress.UNSPECIFIED, TEN_SECONDS, now);
            } else {
                groups.askedByOlder(group, tenths * TENTH, now);
            }
        } else {
            int sources = Bytes.u16(m, at + 10);
            if (n < IgmpMessage.QUERY_BYTES + 4 * sources) {
                ip.counts.malformed++;
                return;
            }
            groups.asked(group, GroupRecords.readAddresses(m, at + IgmpMessage.QUERY_BYTES, sources, true), IgmpMessage
                    .responseTime(m, at) * TENTH, now);
        }
    }

    @Override
    public boolean failed(int errno, int mtu, Path path, MemorySegment m, long at, long now) {
        return false; // it is sent to routers of the link, and nothing is to be done without them
    }

    @Override
    public boolean isSilent(IpAddress group) {
        return isAllHosts((int) group.low());
    }

    @Override
    public void report(List<Groups.Change> told, long now) throws IOException {
        int room = ip.wire.mtu() - HEADER - IgmpMessage.BYTES;
        List<Groups.Change> changes = GroupRecords.split(told, room, true);
        for (int i = 0; i < changes.size();) {
            int n = GroupRecords.fitting(changes, i, room, true);
            SendFrame f = ip.acquire();
            if (f == null) {
                return; // changes are told again, and who asked asks again
            }
            long at = f.at() + EthernetHeader.BYTES + HEADER;
            Bytes.put32(f.memory(), at + 4, n);
            long end = at + IgmpMessage.BYTES;
            for (Groups.Change c : changes.subList(i, i + n)) {
                end = GroupRecords.write(f.memory(), end, c, true);
            }
            send(f, IgmpMessage.REPORT_3, IGMP_ROUTERS, (int) (end - at));
            i += n;
        }
    }

    @Override
    public void join(IpAddress group, long now) throws IOException {
        tell(isOldest(now) ? IgmpMessage.REPORT_1 : IgmpMessage.REPORT_2, (int) group.low(), (int) group.low());
    }

    @Override
    public void leave(IpAddress group, long now) throws IOException {
        if (!isOldest(now)) { // that has no such message
            tell(IgmpMessage.LEAVE, (int) group.low(), ALL_ROUTERS);
        }
    }

    private boolean isOldest(long now) {
        oldest &= now - oldestUntil < 0;
        return oldest;
    }

    private void tell(int type, int group, int to) throws IOException {
        SendFrame f = ip.acquire();
        if (f != null) {
            Bytes.put32(f.memory(), f.at() + EthernetHeader.BYTES + HEADER + 4, group);
            send(f, type, to, IgmpMessage.BYTES);
        }
    }

    private void send(SendFrame f, int type, int to, int length) throws IOException {
        MemorySegment m = f.memory();
        long at = f.at() + EthernetHeader.BYTES;
        IgmpMessage.write(m, at + HEADER, length, type);
        // The precedence is that of network control (RFC 3376, 4).
        Ipv4Header.write(m, at, 0xc0, HEADER + length, 0, 0, 1, IgmpMessage.PROTOCOL, address.address(), to);
        Bytes.put8(m, at, 0x40 | HEADER / 4);
        Bytes.put32(m, at + Ipv4Header.BYTES, ROUTER_ALERT);
        Bytes.put16(m, at + 10, 0);
        Bytes.put16(m, at + 10, Checksum.of(m, at, HEADER));
        ip.transmit(f, EthernetHeader.BYTES + HEADER + length, Ipv4Address.groupMac(to), EthernetHeader.IPV4);
    }
}
