// SPDX-License-Identifier: Apache-2.0
package org.verbena.stack.kernel;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;

import org.verbena.stack.header.EthernetHeader;
import org.verbena.stack.ip.Ip;
import org.verbena.stack.ip.IpAddress;
import org.verbena.stack.ip.Ipv4Address;
import org.verbena.stack.ip.Link;
import org.verbena.stack.ip.Path;
import org.verbena.stack.ip.SourceFilter;
import org.verbena.stack.wire.SendFrame;

/** What the kernel is on an interface with a version of IP. */
final class KernelLink implements Link {
    private static final int USUAL_HOP_LIMIT = 64;

    private final KernelHost host;
    private final Ip ip;
    private final boolean ipv4;
    private final int type;
    private final int hopLimit;

    KernelLink(KernelHost host, Ip ip, boolean ipv4) {
        this.host = host;
        this.ip = ip;
        this.ipv4 = ipv4;
        type = ipv4 ? EthernetHeader.IPV4 : EthernetHeader.IPV6;
        hopLimit = hopLimit(ipv4 ? "ipv4/ip_default_ttl" : "ipv6/conf/" + host.interfaceName + "/hop_limit");
    }

    private static int hopLimit(String setting) {
        try {
            int n = Integer.parseInt(Files.readString(java.nio.file.Path.of("/proc/sys/net", setting)).strip());
            return n > 0 && n < 256 ? n : USUAL_HOP_LIMIT;
        } catch (IOException | NumberFormatException e) {
            return USUAL_HOP_LIMIT; // the kernel has no IPv6, or /proc is not there
        }
    }

    @Override
    public boolean isOwn(long high, long low) {
        return host.addresses.isOwn(high, low);
    }

    @Override
    public boolean isHost(long high, long low) {
        return ipv4
                ? Ipv4Address.isUnicast((int) low) && !isBroadcast(high, low)
                : !IpAddress.isMulticast(high, low) && !IpAddress.isUnspecifiedOrLoopback(high, low);
    }

    @Override
    public boolean isBroadcast(long high, long low) {
        return ipv4 && host.addresses.isBroadcast((int) low);
    }

    @Override
    public boolean isMember(long high, long low) {
        return host.ports.isMember(high, low);
    }

    @Override
    public int way(long high, long low) {
        return host.routes.get(high, low).errno;
    }

    @Override
    public void route(Path p, long high, long low) {
        KernelRoutes.Way w = host.routes.get(high, low);
        p.set(w.sourceHigh, w.sourceLow, high, low);
    }

    @Override
    public int mtu(long high, long low) {
        KernelRoutes.Way w = host.routes.get(high, low);
        return w.errno == 0 ? w.mtu : host.routes.linkMtu;
    }

    @Override
    public int hopLimit() {
        return hopLimit;
    }

    @Override
    public void transmit(SendFrame f, int bytes, long high, long low, long now) throws IOException {
        host.now = now;
        KernelRoutes.Way w = host.routes.get(high, low);
        if (w.errno != 0) { // there was one before
            ip.dropUnresolved(f);
        } else if (w.next != null) {
            host.neighbours.send(ip, f, bytes, type, w.next, now);
        } else {
            ip.transmit(f, bytes, IpAddress.isMulticast(high, low) ? groupMac(low) : EthernetHeader.BROADCAST, type);
        }
    }

    private long groupMac(long low) {
        return ipv4 ? Ipv4Address.groupMac((int) low) : IpAddress.groupMac(low);
    }

    @Override
    public int setFilter(Object owner, int port, IpAddress group, SourceFilter filter, long now) {
        return host.ports.setFilter(port, group, filter);
    }

    @Override
    public boolean redirect(IpAddress from, IpAddress to, IpAddress hop, long now) {
        return false; // they do not come here
    }

    @Override
    public List<IpAddress> addresses() {
        return host.addresses.all().stream().filter(a -> a.isIpv4() == ipv4).toList();
    }

    @Override
    public void start(long now) {
        // the kernel has told the link
    }

    @Override
    public long work(long now) throws IOException {
        if (!ipv4) {
            return Long.MAX_VALUE; // that of IPv4 does it for both
        }
        long next = host.work(now);
        ip.setMac(host.mac());
        return next;
    }
}
