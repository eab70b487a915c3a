// SPDX-License-Identifier: Apache-2.0
package org.verbena.roce;

import java.net.Inet4Address;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import org.verbena.linux.Errno;
import org.verbena.linux.LinuxException;
import org.verbena.linux.Netlink;
import org.verbena.linux.NetworkAddresses;
import org.verbena.linux.NetworkLinks;
import org.verbena.linux.Sys;
import org.verbena.roce.link.Gids;
import org.verbena.roce.link.PortAddress;
import org.verbena.verbs.Device;
import org.verbena.verbs.VerbsException;

/** The device of a network interface that is up and has an address. */
final class RoceNetDevice extends RoceDevice {
    private static final String PREFIX = "roce_";

    private final NetworkLinks.Link link;

    private RoceNetDevice(NetworkLinks.Link link) {
        this.link = link;
    }

    /** The devices of this network namespace, in the kernel's order. */
    static List<Device> all() {
        List<Device> devices = new ArrayList<>();
        try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE)) {
            List<NetworkAddresses.Entry> addresses = NetworkAddresses.list(netlink);
            for (NetworkLinks.Link link : NetworkLinks.list(netlink)) {
                if (link.up() && addresses.stream().anyMatch(a -> a.interfaceIndex() == link.index())) {
                    devices.add(new RoceNetDevice(link));
                }
            }
        } catch (LinuxException e) {
            RoceLog.log(System.Logger.Level.WARNING, "cannot list the network interfaces", e);
        }
        return devices;
    }

    @Override
    public String name() {
        return PREFIX + link.name();
    }

    /** EUI-64 of the interface's address; without one, a locally administered one of its index. */
    @Override
    public long guid() {
        return link.eui64();
    }

    @Override
    Port openPort() throws VerbsException {
        Sys.requireNativeAccess();
        return link.loopback()
                ? UdpPort.onLoopback(link.index(), link.mtu())
                : UdpPort.open(addresses(), link.mtu());
    }

    /** IPv4 first, then IPv6, link-local ones last. */
    private List<PortAddress> addresses() throws VerbsException {
        String verb = "open " + name();
        try (Netlink netlink = Netlink.open(Netlink.NETLINK_ROUTE)) {
            List<PortAddress> all = NetworkAddresses.list(netlink).stream()
                    .filter(a -> a.interfaceIndex() == link.index())
                    .sorted(Comparator.comparingInt(RoceNetDevice::order))
                    .map(a -> new PortAddress(Gids.of(a.address()), link.index())).toList();
            if (all.isEmpty()) {
                throw new VerbsException(verb, Errno.EADDRNOTAVAIL, "interface " + link.name()
                        + " has no address any more: give it one");
            }
            return all;
        } catch (LinuxException e) {
            throw new VerbsException(verb, e);
        }
    }

    private static int order(NetworkAddresses.Entry a) {
        return a.address() instanceof Inet4Address ? 0 : a.isLinkLocal() ? 2 : 1;
    }
}
