// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.ip;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

import org.verbena.stack.header.ArpPacket;
import org.verbena.stack.header.EthernetHeader;
import org.verbena.stack.wire.SendFrame;

/** ARP (RFC 826): asks for the Ethernet addresses of hosts of the link, and tells that of this one. */
final class Arp {
    private static final int ANNOUNCEMENTS = 2;
    private static final long ANNOUNCE_INTERVAL = 2_000_000_000L;

    private final Ip ip;
    private final Ipv4Address address;
    private final Neighbours neighbours;
    /** How often the own address is still to be told, and when next. */
    private int announcements;
    private long announceAt;

    Arp(Ip ip, Ipv4Address address, Redirects redirects) {
        this.ip = ip;
        this.address = address;
        neighbours = new Neighbours(ip, EthernetHeader.IPV4, 0, new Neighbours.Question() {
            @Override
            public void ask(long mac, long high, long low, long now) throws IOException {
                say(mac == 0 ? EthernetHeader.BROADCAST : mac, ArpPacket.REQUEST, 0, (int) low);
            }

            @Override
            public void failed(long high, long low, long now) {
                redirects.forget(high, low);
            }
        });
    }

    Neighbours neighbours() {
        return neighbours;
    }

    private void say(long to, int operation, long targetMac, int target) throws IOException {
        SendFrame f = ip.acquire();
        if (f == null) {
            return;
        }
        EthernetHeader.write(f.memory(), f.at(), to, ip.mac, EthernetHeader.ARP);
        ArpPacket.write(f.memory(), f.at() + EthernetHeader.BYTES, operation, ip.mac, address.address(), targetMac,
                target);
        ip.counts.framesOut++;
        ip.wire.send(f, EthernetHeader.BYTES + ArpPacket.BYTES);
    }

    /** Tells all of the own address from now on, twice (RFC 5227, 2.3): hosts that knew another by it learn. */
    void announce(long now) {
        announcements = ANNOUNCEMENTS;
        announceAt = now;
    }

    /** Does what is due; answers when to call again. */
    long work(long now) throws IOException {
        if (announcements > 0 && now - announceAt >= 0) {
            announcements--;
            announceAt = now + ANNOUNCE_INTERVAL;
            say(EthernetHeader.BROADCAST, ArpPacket.REQUEST, 0, address.address());
        }
        long next = neighbours.work(now);
        return announcements > 0 ? Math.min(announceAt, next) : next;
    }

    /** Takes a packet that has {@code length} bytes at most. */
    void received(MemorySegment m, long at, int length, long now) throws IOException {
        if (!ArpPacket.isValid(m, at, length)) {
            ip.counts.malformed++;
            return;
        }
        long from = ArpPacket.senderMac(m, at);
        int sender = ArpPacket.sender(m, at);
        if (EthernetHeader.isGroup(from) || from == ip.mac) {
            ip.counts.malformed++;
            return;
        }
        if (sender == address.address()) {
            ip.counts.conflicts++;
            return;
        }
        boolean forUs = ArpPacket.target(m, at) == address.address();
        if (forUs && address.isHost(sender) && address.isNear(sender)) {
            neighbours.met(0, IpAddress.mapped(sender), from, true, now);
        } else {
            neighbours.heard(0, IpAddress.mapped(sender), from, true, true, now);
        }
        if (forUs && ArpPacket.operation(m, at) == ArpPacket.REQUEST) {
            say(from, ArpPacket.REPLY, from, sender);
        }
    }
}
